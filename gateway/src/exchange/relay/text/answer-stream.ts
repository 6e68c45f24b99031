import type { Hold } from '#billing/index.ts';
import { GatewayError } from '#errors/index.ts';
import { estimateTokens, type Protocol, type StreamTap } from '#protocols/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import { keepAliveOf } from '../attempts/deadlines.ts';
import { attemptUntilAnswered } from '../attempts/failover.ts';
import { responseHeaders } from '../exchange/response-headers.ts';
import type { Exchange } from '../exchange/exchange.ts';
import {
  asGatewayError,
  finishCompleted,
  finishFailed,
  finishDisconnected,
  finishWithoutResponse,
} from '../exchange/finish.ts';
import { nothingUsed } from '../exchange/measured.ts';
import { attemptOptions } from './attempt-options.ts';
import { forgetText } from './forget-text.ts';
import type { TextInput } from './input.ts';
import { keepItems } from './items/keep-items.ts';
import { measureDisconnected, measureText } from './measure-text.ts';
import type { TextParts } from './parts.ts';
import type { PreparedText } from './prepared.ts';
import { createFraming } from '../streams/framing.ts';
import { spendingOf } from './streams/spending-of.ts';
import { StreamAttempt } from './streams/stream-attempt.ts';
import type { StreamOutcome } from './streams/stream-outcome.ts';
import { StreamSink } from '../streams/stream-sink.ts';
import { TextSender, upstreamRequest, type ReadyText } from './text-sender.ts';
import { usageOfResponse, usageOfLeaving, withHiddenReasoning } from './usage.ts';

/** What the attempts of one streamed exchange share. */
interface Streaming {
  readonly parts: TextParts;
  readonly input: TextInput;
  readonly prepared: PreparedText;
  readonly hold: Hold | null;
  readonly sink: StreamSink;
  /** The running attempt, which has to learn when the client leaves. */
  attempt: StreamAttempt | null;
}

/**
 * Answers a request whose response is streamed.
 * @throws GatewayError when nothing has been written to the client yet.
 */
export async function answerStream(
  parts: TextParts,
  exchange: Exchange<TextInput>,
  prepared: PreparedText,
): Promise<void> {
  const { input } = exchange;
  const protocol = parts.protocols[input.protocol];
  const framing = createFraming(input.framing);
  const sink = new StreamSink(input.client, protocol, framing, parts.clock.monotonic);
  const { hold } = exchange;
  const streaming: Streaming = { parts, input, prepared, hold, sink, attempt: null };
  const sender: TextSender<StreamOutcome> = new TextSender(
    parts,
    input,
    prepared,
    'stream',
    (request, lease, started) => startStream(streaming, sender, request, lease, started),
  );
  input.client.onDisconnect(() => disconnectAttempt(streaming));

  const attempted = await attemptUntilAnswered(parts, exchange, prepared.routes, sender);
  const { outcome, sent } = attempted;
  switch (outcome.kind) {
    case 'unanswered': {
      const failure = await finishWithoutResponse(parts, exchange, outcome.error, attempted);
      // Keep-alives have been sent, so the client already has its status 200: the error goes into the stream.
      if (!sink.opened) throw failure;
      sink.end([protocol.encodeStreamError(failure, input.id, null)]);
      return;
    }
    case 'not-asked':
      return finishDisconnected(parts, exchange, nothingUsed, attempted);
    case 'disconnected':
      return finishDisconnected(
        parts,
        exchange,
        measureDisconnected(outcome, prepared, sent),
        attempted,
      );
    case 'broken': {
      const { error, usage, tap } = outcome;
      if (outcome.isPaid) {
        const { terms } = prepared;
        const { outputBytes, webSearches } = tap;
        const known = withHiddenReasoning(usage, prepared, sent);
        const used = usageOfLeaving(known, prepared, outputBytes, { terms, webSearches });
        const measured = measureText(used, prepared, sent);
        await finishDisconnected(parts, exchange, measured, attempted, error);
      } else await finishFailed(parts, exchange, error, attempted, 200);
      sink.end([streamErrorOf(protocol, error, input.id, tap)]);
      return;
    }
    case 'complete':
  }
  const { usage, tap, body } = outcome;
  const used = usageOfResponse(
    withHiddenReasoning(usage, prepared, sent),
    parts.missingUsage,
    prepared,
    () => estimateTokens(tap.outputBytes),
  );
  if (used === null) {
    const failure = new GatewayError('upstream_abnormal');
    await finishFailed(parts, exchange, failure, attempted, sink.opened ? 200 : undefined);
    if (!sink.opened) throw failure;
    sink.end([streamErrorOf(protocol, failure, input.id, tap)]);
    return;
  }
  const measured = measureText(used, prepared, sent);
  try {
    await finishCompleted(parts, exchange, measured, attempted);
  } catch (error) {
    if (!sink.opened || !(error instanceof GatewayError)) throw error;
    sink.end([protocol.encodeStreamError(error, input.id, null)]);
    return;
  }
  sink.open(responseHeaders(sent));
  keepItems(parts, input, prepared, sent, body.at(-1));
  sink.end(body);
}

/** The returned attempt lives as long as the response, so nothing in it may hold the request. */
function startStream(
  streaming: Streaming,
  sender: Pick<TextSender<StreamOutcome>, 'forget'>,
  request: ReadyText<StreamOutcome>,
  lease: ChannelLease,
  started: number,
): StreamAttempt {
  const { parts, input, prepared, hold, sink } = streaming;
  const { clock, health, drains, timeouts } = parts;
  const { route, patched, sent } = request;
  const options = attemptOptions(parts, input, prepared, request, lease);
  const { continuesAfterDisconnect, webSearches } = prepared.request;
  const drainsOnDisconnect = route.channel.billsAfterCancel || continuesAfterDisconnect === true;
  const asked = upstreamRequest(parts, input, request, lease, true);
  streaming.attempt = new StreamAttempt(asked, {
    ...options,
    client: input.client,
    spending: spendingOf(parts, hold, prepared, sent),
    context: {
      ...options.echo,
      usageInjected: patched.usageInjected,
      searches: webSearches !== undefined,
    },
    sink,
    drains: drainsOnDisconnect ? drains : null,
    headers: responseHeaders(sent),
    monotonic: clock.monotonic,
    keepAliveMs: keepAliveOf(input, route.channel, timeouts),
    onFirstContent() {
      const now = clock.monotonic();
      health.begun(lease, route, now);
      health.took(lease, 'stream', now - started);
      sent.ttftMs = now - input.startedAt;
    },
    onShown() {
      sender.forget();
      forgetText(input, prepared);
    },
  });
  return streaming.attempt;
}

/** Called by the client's connection, which would not catch an exception. */
function disconnectAttempt({ attempt, parts, input }: Streaming): void {
  try {
    attempt?.clientDisconnected();
  } catch (error) {
    attempt?.end(asGatewayError(parts, input, error));
  }
}

/** The frames that end a broken response, in the form of the frames before them. */
function streamErrorOf(
  protocol: Protocol,
  error: GatewayError,
  requestId: string,
  tap: StreamTap,
): string {
  return tap.fail?.(error) ?? protocol.encodeStreamError(error, requestId, tap);
}
