import { GatewayError } from '#errors/index.ts';
import { estimateOutputTokens } from '#protocols/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import { BufferedAttempt, type BufferedOutcome } from '../attempts/buffered-attempt.ts';
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
import { attemptOptions } from './attempt-options.ts';
import type { TextInput } from './input.ts';
import { keepItems } from './items/keep-items.ts';
import { measureDisconnected, measureText } from './measure-text.ts';
import type { TextParts } from './parts.ts';
import type { PreparedText } from './prepared.ts';
import { TextResponseReader, type TextResponse } from './text-response-reader.ts';
import { TextSender, upstreamRequest, type ReadyText } from './text-sender.ts';
import { usageOfResponse, withHiddenReasoning } from './usage.ts';

type Outcome = BufferedOutcome<TextResponse>;

/**
 * Answers a request whose response the client gets in one piece.
 * @throws GatewayError when nothing has been written to the client yet.
 */
export async function answerBuffered(
  parts: TextParts,
  exchange: Exchange<TextInput>,
  prepared: PreparedText,
): Promise<void> {
  const { input } = exchange;
  const sender = new TextSender<Outcome>(parts, input, prepared, 'buffered', (request, lease) =>
    startBuffered(parts, input, prepared, request, lease),
  );
  const attempted = await attemptUntilAnswered(parts, exchange, prepared.routes, sender);
  const { outcome, sent } = attempted;
  switch (outcome.kind) {
    case 'unanswered':
      throw await finishWithoutResponse(parts, exchange, outcome.error, attempted);
    case 'not-asked':
      return finishDisconnected(parts, exchange, nothingUsed, attempted);
    case 'disconnected': {
      const seen = { ...outcome, usage: null, outputBytes: 0, webSearches: 0, whole: false };
      return finishDisconnected(
        parts,
        exchange,
        measureDisconnected(seen, prepared, sent),
        attempted,
      );
    }
    case 'complete':
  }
  const { body, usage, outputTokens } = outcome.response;
  const used = usageOfResponse(
    withHiddenReasoning(usage, prepared, sent),
    parts.missingUsage,
    prepared,
    // Estimated from the response that the client gets; a thread that read it has already done so.
    () => outputTokens ?? estimateOutputTokens(JSON.parse(body.toString())),
  );
  if (used === null) {
    const failure = new GatewayError('upstream_abnormal');
    await finishFailed(parts, exchange, failure, attempted);
    throw failure;
  }
  if (sent !== null) sent.ttftMs = parts.clock.monotonic() - input.startedAt;
  const measured = measureText(used, prepared, sent);
  await finishCompleted(parts, exchange, measured, attempted);
  const headers = responseHeaders(sent);
  keepItems(parts, input, prepared, sent, body);
  input.client.start(200, {
    'content-type': 'application/json',
    'content-length': String(body.length),
    ...headers,
  });
  input.client.end(body);
}

/** The returned attempt lives as long as the response, so nothing in it may hold the request. */
function startBuffered(
  parts: TextParts,
  input: TextInput,
  prepared: PreparedText,
  request: ReadyText<Outcome>,
  lease: ChannelLease,
): BufferedAttempt<TextResponse> {
  const options = attemptOptions(parts, input, prepared, request, lease);
  const asked = upstreamRequest(parts, input, request, lease, false);
  return new BufferedAttempt(asked, {
    ...options,
    reader: new TextResponseReader(options),
    client: input.client,
    drains: parts.drains,
  });
}
