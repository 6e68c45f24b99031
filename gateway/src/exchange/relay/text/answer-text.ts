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
import { attemptOptions } from '../attempts/attempt-options.ts';
import { Attempt } from '../attempts/attempt.ts';
import { keepAliveOf } from '../attempts/deadlines.ts';
import type { OutcomeOf } from '../attempts/outcome.ts';
import { WholeResponse } from '../attempts/whole-response.ts';
import { writeJson } from '../exchange/client-response.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { responseHeaders } from '../exchange/record.ts';
import { createFraming } from '../streams/framing.ts';
import { StreamSink } from '../streams/stream-sink.ts';
import type { TextInput, TextParts } from './input.ts';
import { keepItems } from './items/keep-items.ts';
import {
  type CompleteText,
  measureBrokenText,
  measureComplete,
  measureDisconnected,
  type SeenText,
} from './measure-text.ts';
import { forgetText, type PreparedText } from './prepared.ts';
import { spendingOf } from './streams/spending.ts';
import { TextEvents } from './streams/text-events.ts';
import { readingOf, type TextResponse } from './text-response-reader.ts';
import { type ReadyText, TextSender, upstreamRequest } from './text-sender.ts';

type BufferedText = OutcomeOf<TextResponse, never>;
type StreamedText = OutcomeOf<CompleteText, SeenText>;

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
    // The attempt lives as long as the response, so nothing in it may hold the request.
    sender: new TextSender<BufferedText>(parts, input, prepared, 'buffered', (request, lease) => {
      const { reader } = readingOf(parts, input, prepared, request, lease);
      const asked = upstreamRequest(parts, input, request, lease, false);
      const receiver = new WholeResponse(reader);
      const { channel } = request.route;
      return new Attempt(asked, receiver, attemptOptions(parts, input, channel, 'drain'));
    }),
    sink: null,
    measure: ({ usage, outputTokens, body }, sent) =>
      // Estimated from the response that the client gets; a thread that read it has already done so.
      measureComplete(
        parts.missingUsage,
        prepared,
        sent,
        usage,
        () => outputTokens ?? estimateOutputTokens(JSON.parse(body.toString())),
      ),
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
  const sender: TextSender<StreamedText> = new TextSender(
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
    measure: ({ usage, tap }: CompleteText, sent) =>
      measureComplete(parts.missingUsage, prepared, sent, usage, () =>
        estimateTokens(tap.outputBytes),
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
  sender: Pick<TextSender<StreamedText>, 'forget'>,
  request: ReadyText<StreamedText>,
  lease: ChannelLease,
  started: number,
): Attempt<CompleteText, SeenText> {
  const { clock, health, timeouts } = parts;
  const { route, patched, sent } = request;
  const reading = readingOf(parts, input, prepared, request, lease);
  const { continuesAfterDisconnect, webSearches } = prepared.request;
  const isDrained = route.channel.billsAfterCancel || continuesAfterDisconnect === true;
  const asked = upstreamRequest(parts, input, request, lease, true);
  const receiver = new TextEvents({
    ...reading,
    spending: spendingOf(parts, hold, prepared, sent),
    context: {
      ...reading.echo,
      usageInjected: patched.usageInjected,
      searches: webSearches !== undefined,
    },
    sink,
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
  const onLeave = isDrained ? 'drain' : 'cancel';
  return new Attempt(asked, receiver, attemptOptions(parts, input, route.channel, onLeave));
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
