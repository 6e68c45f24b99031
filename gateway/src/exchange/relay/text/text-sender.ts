import type { Route } from '#catalogue/index.ts';
import type { ConvertedRequest } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { ResponseEcho, PatchedRequest, Protocol } from '#protocols/index.ts';
import { isNative, type ChannelLease } from '#routing/index.ts';
import type { UpstreamRequest } from '#upstream/index.ts';
import { vendorOf, type Vendor } from '#vendors/index.ts';
import type { AttemptFailure, AttemptOutcome } from '../attempts/outcome.ts';
import type { ReadyRequest, RunningAttempt, Sender } from '../attempts/sender.ts';
import { buildUpstreamRequest } from '../attempts/upstream-request.ts';
import { errorOfTextFailure } from './error-of-text-failure.ts';
import { textHeaders } from './forwarded-headers.ts';
import type { TextInput } from './input.ts';
import type { LargeBody } from './large-body.ts';
import type { TextParts } from './parts.ts';
import type { PreparedText } from './prepared.ts';
import { RouteConversions } from './route-conversions.ts';
import {
  echoingRequestFor,
  echoRuleOf,
  largeRequestFor,
  requestFor,
  type RouteRequest,
  type TextRequest,
} from './route-request.ts';
import { stateNotFound } from '../exchange/state/state-not-found.ts';
import type { TextSent } from './text-sent.ts';

/** Sends a request. The returned attempt must not keep `request`. */
export type StartAttempt<Outcome> = (
  request: ReadyText<Outcome>,
  lease: ChannelLease,
  started: number,
) => RunningAttempt<Outcome>;

/** A text request to one route. */
export class ReadyText<Outcome> implements TextRequest, ReadyRequest<TextSent, Outcome> {
  readonly sent: TextSent;
  readonly route: Route;
  readonly vendor: Vendor;
  /** Null when the channel speaks the client's protocol. */
  readonly converted: ConvertedRequest | null;
  readonly patched: PatchedRequest;
  /** Replaces the client's betas; null: they pass unchanged. */
  readonly betas: string | null;
  readonly place: RouteRequest['place'];
  readonly #start: StartAttempt<Outcome>;

  constructor(
    route: Route,
    converted: ConvertedRequest | null,
    { sent, patched, betas, place }: RouteRequest,
    start: StartAttempt<Outcome>,
  ) {
    const vendor = vendorOf(route.channel);
    if (vendor === undefined) throw new GatewayError('internal_error');
    this.sent = sent;
    this.route = route;
    this.vendor = vendor;
    this.converted = converted;
    this.patched = patched;
    this.betas = betas;
    this.place = place;
    this.#start = start;
  }

  send(lease: ChannelLease, started: number): RunningAttempt<Outcome> {
    return this.#start(this, lease, started);
  }
}

/** Sends a text request: unchanged to channels of the client's protocol, converted to the others. */
export class TextSender<Outcome extends AttemptOutcome> implements Sender<TextSent, Outcome> {
  readonly kind: 'stream' | 'buffered';
  readonly model: string;
  readonly #parts: TextParts;
  readonly #input: TextInput;
  readonly #prepared: PreparedText;
  readonly #start: StartAttempt<Outcome>;
  /** Null until it is the turn of a channel of another protocol. */
  #conversions: RouteConversions | null = null;

  constructor(
    parts: TextParts,
    input: TextInput,
    prepared: PreparedText,
    kind: 'stream' | 'buffered',
    start: StartAttempt<Outcome>,
  ) {
    this.kind = kind;
    this.model = prepared.request.model;
    this.#parts = parts;
    this.#input = input;
    this.#prepared = prepared;
    this.#start = start;
  }

  prepare(route: Route): Promise<GatewayError | null> | null {
    if (this.#isNative(route)) return null;
    this.#conversions ??= new RouteConversions(this.#parts, this.#input, this.#prepared);
    return this.#conversions.convert(route);
  }

  /** The credential with which the state in the request was made; another one may belong to another account. */
  credentialFor({ channel }: Route): number {
    const { home } = this.#prepared;
    if (home === null || home.channel !== channel.id || channel.credentials.length < 2) return -1;
    const { upstreamState } = this.#parts;
    return channel.credentials.findIndex(
      (secret) => upstreamState.digest('credential', secret) === home.credential,
    );
  }

  build(route: Route): ReadyText<Outcome> | Promise<ReadyText<Outcome>> {
    const { affinity, clock, protocols } = this.#parts;
    const { conversation, large } = this.#prepared;
    // Noted when the request is sent, not when it ends, because agents send a session's requests in parallel.
    if (conversation !== null) affinity.used(conversation, route, clock.monotonic());
    const converted = this.#conversions?.of(route) ?? null;
    if (converted === null && large?.isRead) return this.#buildLarge(route, large);
    const protocol = protocols[this.#input.protocol];
    const isEchoing =
      converted === null && echoRuleOf(this.#input, this.#prepared, route) === 'require';
    if (isEchoing) return this.#buildEchoing(route, protocol);
    const request = requestFor(protocol, this.#input, this.#prepared, route, converted);
    return new ReadyText(route, converted, request, this.#start);
  }

  async #buildLarge(route: Route, large: LargeBody): Promise<ReadyText<Outcome>> {
    const request = await largeRequestFor(this.#input, this.#prepared, large, route);
    return new ReadyText(route, null, request, this.#start);
  }

  async #buildEchoing(route: Route, protocol: Protocol): Promise<ReadyText<Outcome>> {
    const { converter } = this.#parts;
    const request = await echoingRequestFor(
      protocol,
      converter,
      this.#input,
      this.#prepared,
      route,
    );
    return new ReadyText(route, null, request, this.#start);
  }

  isConverted(route: Route): boolean {
    return !this.#isNative(route);
  }

  errorOf(failure: AttemptFailure): GatewayError {
    return errorOfTextFailure(failure, this.#prepared.request);
  }

  /**
   * Does the channel refuse what the request names (404, 403), rather than the model? Vendors use the same status for
   * both. Without this check, a client that names a deleted id could make the channel lose the model for others.
   */
  lacksState(route: Route, { classification }: AttemptFailure): boolean {
    if (classification.kind !== 'failover' || classification.blame !== 'model') return false;
    // Upstreams of other protocols get no ids.
    return this.#prepared.request.named !== undefined && this.#isNative(route);
  }

  stateError(): GatewayError {
    return stateNotFound(this.#prepared.request.named?.[0] ?? { kind: 'item', param: 'input' });
  }

  /** Releases the conversions, because no other route is going to be asked. */
  forget(): void {
    this.#conversions?.forget();
  }

  #isNative(route: Route): boolean {
    return isNative(route, this.#input.protocol);
  }
}

/** @param request is not kept. */
export function upstreamRequest(
  { timeouts }: Pick<TextParts, 'timeouts'>,
  input: TextInput,
  { route, vendor, converted, patched, betas }: TextRequest,
  { secret }: ChannelLease,
  stream: boolean,
): UpstreamRequest {
  const protocol = converted?.protocol ?? input.protocol;
  return buildUpstreamRequest({
    operation: input.operation,
    route,
    vendor,
    secret,
    protocol,
    body: patched.body,
    clientHeaders: input.headers,
    forwarded: textHeaders(input, protocol, betas),
    stream,
    timeouts,
  });
}

/** @param clientModel as the client wrote it. */
export function echoOf(
  clientModel: string,
  { upstreamModel }: Route,
  { toolNames }: PatchedRequest,
): ResponseEcho {
  return { clientModel, upstreamModel, ...(toolNames !== undefined && { toolNames }) };
}
