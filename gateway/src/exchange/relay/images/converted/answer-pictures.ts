import { attemptUntilAnswered } from '../../attempts/failover.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import {
  finishCompleted,
  finishDisconnected,
  finishWithoutResponse,
} from '../../exchange/finish.ts';
import { nothingUsed } from '../../exchange/measured.ts';
import { responseHeaders } from '../../exchange/response-headers.ts';
import type { TextInput } from '../../text/input.ts';
import { eventStreamHeaders } from '../../streams/framing.ts';
import type { PictureParts } from './parts.ts';
import { PictureSender } from './picture-sender.ts';
import type { PreparedPictures } from './prepared.ts';
import type { PictureSurface } from './surface.ts';

const noBody = Buffer.alloc(0);

/**
 * A streamed response is sent in one piece too: nothing of it may be seen before its row is durable.
 * @throws GatewayError when nothing has been written to the client yet.
 */
export async function answerPictures(
  parts: PictureParts,
  surface: PictureSurface,
  exchange: Exchange<TextInput>,
  prepared: PreparedPictures,
): Promise<void> {
  const { input } = exchange;
  // The prepared request has the bytes. Of megabytes no digest is made for the log.
  input.body = noBody;
  const sender = new PictureSender(parts, surface, input, prepared);
  const attempted = await attemptUntilAnswered(parts, input, prepared.routes, sender);
  const { outcome, sent } = attempted;
  switch (outcome.kind) {
    case 'unanswered':
      throw await finishWithoutResponse(parts, exchange, outcome.error, attempted);
    case 'not-asked':
    // A client that leaves once the request has been sent is waited for: nothing had been sent.
    case 'disconnected':
      return finishDisconnected(parts, exchange, nothingUsed, attempted);
    case 'complete':
  }
  const { body, measured } = outcome.response;
  if (sent !== null) sent.ttftMs = parts.clock.monotonic() - input.startedAt;
  await finishCompleted(parts, exchange, measured, attempted);
  const isEvents = exchange.stream && input.framing === 'event-stream';
  input.client.start(200, {
    ...(isEvents
      ? eventStreamHeaders
      : { 'content-type': 'application/json', 'content-length': String(body.length) }),
    ...responseHeaders(sent),
  });
  input.client.end(body);
}
