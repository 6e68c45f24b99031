import { responseHeaders } from '../../exchange/response-headers.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import {
  finishCompleted,
  finishDisconnected,
  finishWithoutResponse,
} from '../../exchange/finish.ts';
import { nothingUsed } from '../../exchange/measured.ts';
import type { TextInput } from '../input.ts';
import type { TextParts } from '../parts.ts';
import type { PreparedText } from '../prepared.ts';
import type { TokenCounting } from './count-tokens.ts';

/**
 * Answers a request to count tokens. Counting is free, so its row has no tokens; the upstream's number is in the
 * response only.
 * @throws GatewayError when nothing has been written to the client yet.
 */
export async function answerCount(
  parts: TextParts,
  exchange: Exchange<TextInput>,
  prepared: PreparedText,
  counting: TokenCounting,
): Promise<void> {
  const { client } = exchange.input;
  const counted = await counting.count(exchange.input, prepared);
  const { outcome, sent } = counted;
  switch (outcome.kind) {
    case 'unanswered':
      throw await finishWithoutResponse(parts, exchange, outcome.error, counted);
    case 'disconnected':
      return finishDisconnected(parts, exchange, nothingUsed, counted);
    case 'counted':
  }
  const { body, estimated } = outcome;
  await finishCompleted(parts, exchange, nothingUsed, counted);
  client.start(200, {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...responseHeaders(sent),
    ...(estimated && { 'x-sluice-estimated': '1' }),
  });
  client.end(body);
}
