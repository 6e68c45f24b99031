import type { Hold } from '#billing/index.ts';
import type { GatewayError } from '#errors/index.ts';
import {
  estimateOutputTokens,
  estimateTokens,
  type Protocol,
  type StreamTap,
} from '#protocols/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import { answer } from '../answer.ts';
import { BufferedAttempt, type BufferedOutcome } from '../attempts/buffered-attempt.ts';
import { keepAliveOf } from '../attempts/deadlines.ts';
import { writeJson } from '../exchange/client-response.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Measured } from '../exchange/measured.ts';
import { responseHeaders } from '../exchange/response-headers.ts';
import { createFraming } from '../streams/framing.ts';
import { StreamSink } from '../streams/stream-sink.ts';
import { attemptOptions } from './attempt-options.ts';
import { forgetText } from './forget-text.ts';
import type { TextInput } from './input.ts';
import { keepItems } from './items/keep-items.ts';
import { measureBrokenText, measureDisconnected, measureText } from './measure-text.ts';
import type { TextParts } from './parts.ts';
import type { PreparedText } from './prepared.ts';
import { spendingOf } from './streams/spending-of.ts';
import { StreamAttempt } from './streams/stream-attempt.ts';
import type { CompleteText, StreamOutcome } from './streams/stream-outcome.ts';
import { TextResponseReader, type TextResponse } from './text-response-reader.ts';
import { TextSender, upstreamRequest, type ReadyText } from './text-sender.ts';
import type { TextSent } from './text-sent.ts';
import { usageOfResponse, withHiddenReasoning } from './usage.ts';

type BufferedText = BufferedOutcome<TextResponse>;

/**
 * Answers a request whose response the client gets in one piece.
 * @throws GatewayError when nothing has been written to the client yet.
 */
export function answerBuffered(
  parts: TextParts,
  exchange: Exchange<TextInput>,
  prepared: PreparedText,
): Promise<void> {
  const { input } = exchange;
  return answer(parts, exchange, {
    routes: prepared.routes,
    sender: new TextSender<BufferedText>(parts, input, prepared, 'buffered', (request, lease) =>
      startBuffered(parts, input, prepared, request, lease),
    ),
    sink: null,
    measure: (response, sent) =>
      // Estimated from the response that the client gets; a thread that read it has already done so.
      measureComplete(parts, prepared, sent, response, () => {
        const { outputTokens, body } = response;
        return outputTokens ?? estimateOutputTokens(JSON.parse(body.toString()));
      }),
    measureLeft: (left, sent) => measureDisconnected(left, prepared, sent),
    write({ body }, headers, sent) {
      keepItems(parts, input, prepared, sent, body);
      writeJson(input.client, body, headers);
    },
  });
}

/**
 * Answers a request whose response is streamed.
 * @throws GatewayError when nothing has been written to the client yet.
 */
export function answerStream(
  parts: TextParts,
  exchange: Exchange<TextInput>,
  prepared: PreparedText,
): Promise<void> {
  const { input, hold } = exchange;
  const protocol = parts.protocols[input.protocol];
  const framing = createFraming(input.framing);
  const sink = new StreamSink(input.client, protocol, framing, parts.clock.monotonic);
  const streaming: Streaming = { parts, input, prepared, hold, sink };
  const sender: TextSender<StreamOutcome> = new TextSender(
    parts,
    input,
    prepared,
    'stream',
    (request, lease, started) => startStream(streaming, sender, request, lease, started),
  );
  return answer(parts, exchange, {
    routes: prepared.routes,
    sender,
    sink,
    measure: (response: CompleteText, sent) =>
      measureComplete(parts, prepared, sent, response, () =>
        estimateTokens(response.tap.outputBytes),
      ),
    measureLeft: (left, sent) => measureDisconnected(left, prepared, sent),
    measureBroken: (broken, sent) => measureBrokenText(broken, prepared, sent),
    write({ body }, headers, sent) {
      sink.open(headers);
      keepItems(parts, input, prepared, sent, body.at(-1));
      sink.end(body);
    },
    encodeError: (error, seen) => encodeStreamError(protocol, error, input.id, seen?.tap ?? null),
  });
}

function measureComplete(
  { missingUsage }: Pick<TextParts, 'missingUsage'>,
  prepared: PreparedText,
  sent: TextSent | null,
  { usage }: Pick<TextResponse, 'usage'>,
  outputTokens: () => number,
): Measured | null {
  const known = withHiddenReasoning(usage, prepared, sent);
  const used = usageOfResponse(known, missingUsage, prepared, outputTokens);
  return used === null ? null : measureText(used, prepared, sent);
}

/** The returned attempt lives as long as the response, so nothing in it may hold the request. */
function startBuffered(
  parts: TextParts,
  input: TextInput,
  prepared: PreparedText,
  request: ReadyText<BufferedText>,
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

/** What the attempts of one streamed exchange share. */
interface Streaming {
  readonly parts: TextParts;
  readonly input: TextInput;
  readonly prepared: PreparedText;
  readonly hold: Hold | null;
  readonly sink: StreamSink;
}

/** The returned attempt lives as long as the response, so nothing in it may hold the request. */
function startStream(
  { parts, input, prepared, hold, sink }: Streaming,
  sender: Pick<TextSender<StreamOutcome>, 'forget'>,
  request: ReadyText<StreamOutcome>,
  lease: ChannelLease,
  started: number,
): StreamAttempt {
  const { clock, health, drains, timeouts } = parts;
  const { route, patched, sent } = request;
  const options = attemptOptions(parts, input, prepared, request, lease);
  const { continuesAfterDisconnect, webSearches } = prepared.request;
  const drainsOnDisconnect = route.channel.billsAfterCancel || continuesAfterDisconnect === true;
  const asked = upstreamRequest(parts, input, request, lease, true);
  return new StreamAttempt(asked, {
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
}

/** The frames that end a broken response, in the form of the frames before them. */
function encodeStreamError(
  protocol: Protocol,
  error: GatewayError,
  requestId: string,
  tap: StreamTap | null,
): string {
  return tap?.fail?.(error) ?? protocol.encodeStreamError(error, requestId, tap);
}
