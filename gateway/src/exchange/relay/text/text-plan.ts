import type { Route } from '#catalogue/index.ts';
import type { GatewayError } from '#errors/index.ts';
import { estimateOutputTokens, estimateTokens } from '#protocols/index.ts';
import { type ChannelLease, isNative } from '#routing/index.ts';
import type { Cure } from '#vendors/index.ts';
import { answer, type ExchangePlan } from '../answer.ts';
import { keepAliveOf } from '../attempts/deadlines.ts';
import { errorOfFailure } from '../attempts/final-error.ts';
import type { AttemptFailure, BrokenAttempt, DisconnectedAttempt } from '../attempts/outcome.ts';
import type { RoutedRequest } from '../attempts/request-plan.ts';
import { WholeResponse } from '../attempts/whole-response.ts';
import { ClientGone, type Exchange, writeJson } from '../exchange.ts';
import { type Measured, responseHeaders } from '../ending/record.ts';
import { stateNotFound } from '../admission/named-state.ts';
import { createFraming, StreamSink } from '../stream-sink.ts';
import type { TextInput, TextParts, TextSent } from './input.ts';
import { keepItems } from './items/named-items.ts';
import {
  type CompleteText,
  measureBrokenText,
  measureComplete,
  measureDisconnected,
  type SeenText,
} from './measure-text.ts';
import { forgetText, type PreparedText } from './prepared.ts';
import { RouteConversions } from './route-conversions.ts';
import {
  learnedQuirks,
  learnQuirk,
  noEdits,
  requestFor,
  type RouteEdits,
  type TextRequest,
  upstreamRequest,
  withCure,
} from './route-request.ts';
import { spendingOf } from './streams/spending.ts';
import { TextEvents } from './streams/text-events.ts';
import { type TextResponse, TextResponseReader } from './text-response-reader.ts';

/**
 * Answers a text request.
 * @throws GatewayError when nothing has been written to the client yet.
 */
export function answerText(
  parts: TextParts,
  exchange: Exchange<TextInput>,
  preparedText: PreparedText,
): Promise<void> {
  if (!preparedText.request.stream) {
    return answer(parts, exchange, new WholeText(parts, exchange, preparedText, null));
  }
  const { client, framing, protocol } = exchange.input;
  const { protocols, clock } = parts;
  const sink = new StreamSink(client, protocols[protocol], createFraming(framing), clock.monotonic);
  return answer(parts, exchange, new StreamedText(parts, exchange, preparedText, sink));
}

/** How a text request is served: unchanged by channels of the client's protocol, converted by the others. */
abstract class TextPlan<
  Result,
  Seen extends SeenText,
  Sink extends StreamSink | null,
> implements ExchangePlan<TextSent, Result, Seen> {
  readonly kind: 'stream' | 'buffered';
  readonly sink: Sink;
  readonly routes: readonly Route[];
  readonly model: string;
  readonly parts: TextParts;
  readonly exchange: Exchange<TextInput>;
  readonly preparedText: PreparedText;
  /** Null until it is the turn of a channel of another protocol. */
  #conversions: RouteConversions | null = null;
  /** What cures the refusals of upstreams; null until one has refused the request. */
  #cures: Map<Route, Cure> | null = null;
  /** What became of the last request. */
  #leftOutStates = 0;
  #rewrites: readonly string[] = [];

  constructor(
    parts: TextParts,
    exchange: Exchange<TextInput>,
    preparedText: PreparedText,
    sink: Sink,
  ) {
    this.kind = sink === null ? 'buffered' : 'stream';
    this.sink = sink;
    this.routes = preparedText.routes;
    this.model = preparedText.request.model;
    this.parts = parts;
    this.exchange = exchange;
    this.preparedText = preparedText;
  }

  unable(route: Route): Promise<GatewayError | null> | null {
    const { input } = this.exchange;
    if (isNative(route, input.protocol)) return null;
    this.#conversions ??= new RouteConversions(this.parts, input, this.preparedText);
    return this.#conversions.convert(route, this.#editsOf(route));
  }

  /** The credential with which the state in the request was made; another one may belong to another account. */
  credentialFor(route: Route): number {
    const { channel } = route;
    if (channel.credentials.length < 2) return -1;
    const { stateLocation, conversation } = this.preparedText;
    const { affinity, clock, upstreamState } = this.parts;
    if (stateLocation === null && conversation !== null) {
      return affinity.credentialOf(conversation, route, clock.monotonic());
    }
    if (stateLocation?.channel !== channel.id) return -1;
    return channel.credentials.findIndex(
      (secret) => upstreamState.digest('credential', secret) === stateLocation.credential,
    );
  }

  request(
    route: Route,
    lease: ChannelLease,
  ): RoutedRequest<TextSent, Result, Seen> | Promise<RoutedRequest<TextSent, Result, Seen>> {
    const { input } = this.exchange;
    const convertedRequest = this.#conversions?.convertedRequests.get(route) ?? null;
    const edits = convertedRequest === null ? this.#editsOf(route) : noEdits;
    const making = requestFor(this.parts, input, this.preparedText, route, convertedRequest, edits);
    if (!(making instanceof Promise)) return this.#routedRequest(making, lease);
    return making.then((request) => {
      if (input.client.disconnected) throw new ClientGone();
      return this.#routedRequest(request, lease);
    });
  }

  #routedRequest(request: TextRequest, lease: ChannelLease): RoutedRequest<TextSent, Result, Seen> {
    const { parts, preparedText } = this;
    const { input } = this.exchange;
    const { conversation } = preparedText;
    // Noted when the request is sent, not when it ends, because agents send a session's requests in parallel.
    if (conversation !== null) {
      const credential = lease.state.credentials.indexOf(lease.credential);
      parts.affinity.noteUse(conversation, request.route, parts.clock.monotonic(), credential);
    }
    this.#leftOutStates = request.patchedRequest.leftOutStates ?? 0;
    this.#rewrites = request.patchedRequest.rewrites;
    const reader = new TextResponseReader(parts, input, preparedText, request, lease.secret);
    return {
      sentRequest: request.sentRequest,
      upstream: upstreamRequest(parts, input, request, lease.secret, this.kind === 'stream'),
      ...this.receive(request, lease, reader),
    };
  }

  /** What receives the response. It lives as long as that, so nothing in it may hold the request. */
  abstract receive(
    request: TextRequest,
    lease: ChannelLease,
    reader: TextResponseReader,
  ): Pick<RoutedRequest<TextSent, Result, Seen>, 'receiver' | 'onLeave'>;

  isConverted(route: Route): boolean {
    return !isNative(route, this.exchange.input.protocol);
  }

  async cure(route: Route, cure: Cure): Promise<boolean> {
    this.#cures ??= new Map();
    if (this.#cures.has(route)) return false;
    // Of one channel with one credential no other made the state: what is wrong with it is the client's to know.
    if ('kind' in cure && this.preparedText.conversation === null) return false;
    this.#cures.set(route, cure);
    const client = this.exchange.input.protocol;
    const protocol = this.#conversions?.convertedRequests.get(route)?.protocol ?? client;
    if ('protocol' in cure && cure.protocol !== protocol) return false;
    if (isNative(route, client)) return true;
    return (await this.#conversions?.convert(route, this.#editsOf(route))) === null;
  }

  cured(route: Route): void {
    const cure = this.#cures?.get(route);
    // A refusal that quotes the client may name what the request does not have.
    if (cure !== undefined && 'protocol' in cure && this.#rewrites.includes(cure.id)) {
      learnQuirk(route, cure);
    }
    const { affinity, clock } = this.parts;
    const { conversation } = this.preparedText;
    if (this.#leftOutStates === 0 || conversation === null) return;
    affinity.refused(conversation, route, this.#leftOutStates, clock.monotonic());
  }

  /** What the upstream is known to refuse of this request. */
  #editsOf(route: Route): RouteEdits {
    const { affinity, clock } = this.parts;
    const { conversation } = this.preparedText;
    const withoutState =
      conversation === null ? 0 : affinity.refusedBy(conversation, route, clock.monotonic());
    const quirks = learnedQuirks(route);
    const cure = this.#cures?.get(route);
    if (withoutState === 0 && quirks.length === 0 && cure === undefined) return noEdits;
    return withCure({ withoutState, quirks }, cure);
  }

  errorOf(failure: AttemptFailure): GatewayError {
    return errorOfFailure(failure, this.preparedText.request.json);
  }

  /**
   * Does the channel refuse what the request names (404, 403), rather than the model? Vendors use the same status for
   * both. Without this check, a client that names a deleted id could make the channel lose the model for others.
   */
  lacksState(route: Route, { classification }: AttemptFailure): boolean {
    if (classification.kind !== 'failover' || classification.blame !== 'model') return false;
    // Upstreams of other protocols get no ids.
    return this.preparedText.request.namedStates !== undefined && !this.isConverted(route);
  }

  stateError(): GatewayError {
    return stateNotFound(
      this.preparedText.request.namedStates?.[0] ?? { kind: 'item', param: 'input' },
    );
  }

  /** Releases the request, because no other route is going to be asked. */
  forget(): void {
    this.#conversions?.forget();
    forgetText(this.exchange.input, this.preparedText);
  }

  abstract measure(result: Result, sentRequest: TextSent | null): Measured | null;

  measureLeft(leftAttempt: DisconnectedAttempt<Seen>, sentRequest: TextSent | null): Measured {
    return measureDisconnected(leftAttempt, this.preparedText, sentRequest);
  }

  abstract write(
    result: Result,
    headers: Readonly<Record<string, string>>,
    sentRequest: TextSent | null,
  ): void;
}

/** The client gets the response in one piece. */
class WholeText extends TextPlan<TextResponse, never, null> {
  receive(_request: TextRequest, _lease: ChannelLease, reader: TextResponseReader) {
    return { receiver: new WholeResponse(reader), onLeave: 'drain' } as const;
  }

  measure(
    { usage, outputTokens, body }: TextResponse,
    sentRequest: TextSent | null,
  ): Measured | null {
    // Estimated from the response that the client gets; a thread that read it has already done so.
    const estimate = () => outputTokens ?? estimateOutputTokens(JSON.parse(body.toString()));
    return measureComplete(
      this.parts.missingUsage,
      this.preparedText,
      sentRequest,
      usage,
      estimate,
    );
  }

  write(
    { body }: TextResponse,
    headers: Readonly<Record<string, string>>,
    sentRequest: TextSent | null,
  ): void {
    const { input } = this.exchange;
    keepItems(this.parts, input, this.preparedText, sentRequest, body);
    writeJson(input.client, body, headers);
  }
}

/** The client gets the response as it comes. */
class StreamedText extends TextPlan<CompleteText, SeenText, StreamSink> {
  receive(
    { route, patchedRequest, sentRequest }: TextRequest,
    lease: ChannelLease,
    reader: TextResponseReader,
  ) {
    const { parts, preparedText, exchange } = this;
    const { input, hold } = exchange;
    const { clock, health } = parts;
    const { continuesAfterDisconnect, webSearches } = preparedText.request;
    const receiver: TextEvents = new TextEvents({
      reader,
      spending: spendingOf(parts, hold, preparedText, sentRequest),
      context: {
        ...reader.echo,
        usageInjected: patchedRequest.usageInjected,
        searches: webSearches !== undefined,
      },
      sink: this.sink,
      headers: responseHeaders(sentRequest),
      monotonic: clock.monotonic,
      keepAliveMs: keepAliveOf(input, route.channel, parts.timeouts),
      onFirstContent() {
        const now = clock.monotonic();
        health.reportBegin(lease, route, now);
        health.took(lease, 'stream', now - receiver.attempt.startedAt);
        sentRequest.ttftMs = now - input.startedAt;
      },
      onShown: () => this.forget(),
      onDefect: (error) => parts.onUnexpectedError(error, input.id),
    });
    const isDrained = route.channel.billsAfterCancel || continuesAfterDisconnect === true;
    return { receiver, onLeave: isDrained ? 'drain' : 'cancel' } as const;
  }

  measure({ usage, tap }: CompleteText, sentRequest: TextSent | null): Measured | null {
    const estimate = () => estimateTokens(tap.outputBytes);
    return measureComplete(
      this.parts.missingUsage,
      this.preparedText,
      sentRequest,
      usage,
      estimate,
    );
  }

  measureBroken(
    brokenAttempt: BrokenAttempt<SeenText>,
    sentRequest: TextSent | null,
  ): Measured | null {
    return measureBrokenText(brokenAttempt, this.preparedText, sentRequest);
  }

  write(
    { body }: CompleteText,
    headers: Readonly<Record<string, string>>,
    sentRequest: TextSent | null,
  ): void {
    this.sink.open(headers);
    keepItems(this.parts, this.exchange.input, this.preparedText, sentRequest, body.at(-1));
    this.sink.end(body);
  }

  /** The frames that end a broken response, in the form of the frames before them. */
  encodeError(error: GatewayError, seenResponse: SeenText | null): string {
    const tap = seenResponse?.tap ?? null;
    const { id, protocol } = this.exchange.input;
    return tap?.fail?.(error) ?? this.parts.protocols[protocol].encodeStreamError(error, id, tap);
  }
}
