import { GatewayError } from '#errors/index.ts';
import { attemptUntilAnswered } from '../attempts/failover.ts';
import { responseHeaders } from '../exchange/response-headers.ts';
import type { Exchange } from '../exchange/exchange.ts';
import {
  finishCompleted,
  finishFailed,
  finishDisconnected,
  finishWithoutResponse,
} from '../exchange/finish.ts';
import { nothingUsed } from '../exchange/measured.ts';
import { EmbedSender } from './embed-sender.ts';
import type { EmbedInput } from './input.ts';
import { measureEmbed, measureLeftEmbed } from './measure-embed.ts';
import type { EmbedParts } from './parts.ts';
import type { PreparedEmbed } from './prepared.ts';

/** @throws GatewayError when nothing has been written to the client yet. */
export async function answerEmbed(
  parts: EmbedParts,
  exchange: Exchange<EmbedInput>,
  prepared: PreparedEmbed,
): Promise<void> {
  const { input } = exchange;
  const sender = new EmbedSender(parts, input, prepared);
  const attempted = await attemptUntilAnswered(parts, exchange, prepared.routes, sender);
  const { outcome, sent } = attempted;
  switch (outcome.kind) {
    case 'unanswered':
      throw await finishWithoutResponse(parts, exchange, outcome.error, attempted);
    case 'not-asked':
      return finishDisconnected(parts, exchange, nothingUsed, attempted);
    case 'disconnected':
      return finishDisconnected(parts, exchange, measureLeftEmbed(outcome, prepared), attempted);
    case 'complete':
  }
  const { response } = outcome;
  const measured = measureEmbed(response, prepared, parts.missingUsage);
  if (measured === null) {
    const failure = new GatewayError('upstream_abnormal');
    await finishFailed(parts, exchange, failure, attempted);
    throw failure;
  }
  if (sent !== null) sent.ttftMs = parts.clock.monotonic() - input.startedAt;
  await finishCompleted(parts, exchange, measured, attempted);
  input.client.start(200, {
    'content-type': 'application/json',
    'content-length': String(response.body.length),
    ...responseHeaders(sent),
  });
  input.client.end(response.body);
}
