import type { Route } from '#catalogue/index.ts';
import type { ConvertedRequest } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { PatchedRequest, ResponseEcho } from '#protocols/index.ts';
import { type ChannelLease, isNative } from '#routing/index.ts';
import type { UpstreamRequest } from '#upstream/index.ts';
import { type Cure, type Vendor, vendorOf } from '#vendors/index.ts';
import type { AttemptFailure, AttemptOutcome } from '../attempts/outcome.ts';
import type { ReadyRequest, RunningAttempt, Sender } from '../attempts/sender.ts';
import { buildUpstreamRequest } from '../attempts/upstream-request.ts';
import { stateNotFound } from '../exchange/state/judge-names.ts';
import { errorOfFailure } from '../attempts/final-error.ts';
import { textHeaders } from './forwarded-headers.ts';
import type { TextInput, TextParts, TextSent } from './input.ts';
import type { PreparedText } from './prepared.ts';
import { RouteConversions } from './route-conversions.ts';
import { learnedQuirks, learnQuirk, noEdits, type RouteEdits, withCure } from './route-edits.ts';
import { requestFor, type RouteRequest, type TextRequest } from './route-request.ts';

/** Sends a request. The returned attempt must not keep `request`. */
export type StartAttempt<Outcome extends AttemptOutcome> = (
  request: ReadyText<Outcome>,
  lease: ChannelLease,
  started: number,
) => RunningAttempt<Outcome>;

/** A text request to one route. */
export class ReadyText<Outcome extends AttemptOutcome>
  implements TextRequest, ReadyRequest<TextSent, Outcome>
{
  readonly sent: TextSent;
  readonly route: Route;
  readonly vendor: Vendor;
  /** Null when the channel speaks the client's protocol. */
  readonly converted: ConvertedRequest | null;
  readonly patched: PatchedRequest;
  /** Replaces the client's betas; null: they pass unchanged. */
  readonly betas: string | null;
  readonly place: RouteRequest['place'];
  readonly #sender: TextSender<Outcome>;

  constructor(
    route: Route,
    converted: ConvertedRequest | null,
    { sent, patched, betas, place }: RouteRequest,
    sender: TextSender<Outcome>,
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
    this.#sender = sender;
  }

  send(lease: ChannelLease, started: number): RunningAttempt<Outcome> {
    return this.#sender.send(this, lease, started);
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
  /** What cures the refusals of upstreams; null until one has refused the request. */
  #cures: Map<Route, Cure> | null = null;
  /** The last request, as it was sent. */
  #last: { readonly leftOutStates: number; readonly rewrites: readonly string[] } = {
    leftOutStates: 0,
    rewrites: [],
  };

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
    return this.#conversions.convert(route, this.#editsOf(route));
  }

  /** The credential with which the state in the request was made; another one may belong to another account. */
  credentialFor(route: Route): number {
    const { channel } = route;
    if (channel.credentials.length < 2) return -1;
    const { home, conversation } = this.#prepared;
    const { affinity, clock, upstreamState } = this.#parts;
    if (home === null && conversation !== null) {
      return affinity.credentialOf(conversation, route, clock.monotonic());
    }
    if (home?.channel !== channel.id) return -1;
    return channel.credentials.findIndex(
      (secret) => upstreamState.digest('credential', secret) === home.credential,
    );
  }

  build(route: Route): ReadyText<Outcome> | Promise<ReadyText<Outcome>> {
    const converted = this.#conversions?.of(route) ?? null;
    const edits = converted === null ? this.#editsOf(route) : noEdits;
    const request = requestFor(this.#parts, this.#input, this.#prepared, route, converted, edits);
    return request instanceof Promise
      ? request.then((ready) => new ReadyText(route, converted, ready, this))
      : new ReadyText(route, converted, request, this);
  }

  isConverted(route: Route): boolean {
    return !this.#isNative(route);
  }

  send(request: ReadyText<Outcome>, lease: ChannelLease, started: number): RunningAttempt<Outcome> {
    const { affinity } = this.#parts;
    const { conversation } = this.#prepared;
    // Noted when the request is sent, not when it ends, because agents send a session's requests in parallel.
    if (conversation !== null) {
      const credential = lease.state.credentials.indexOf(lease.credential);
      affinity.used(conversation, request.route, started, credential);
    }
    const { leftOutStates = 0, rewrites } = request.patched;
    this.#last = { leftOutStates, rewrites };
    return this.#start(request, lease, started);
  }

  async cure(route: Route, cure: Cure): Promise<boolean> {
    this.#cures ??= new Map();
    if (this.#cures.has(route)) return false;
    // Of one channel with one credential no other made the state: what is wrong with it is the client's to know.
    if ('kind' in cure && this.#prepared.conversation === null) return false;
    this.#cures.set(route, cure);
    const protocol = this.#conversions?.of(route)?.protocol ?? this.#input.protocol;
    if ('protocol' in cure && cure.protocol !== protocol) return false;
    if (this.#isNative(route)) return true;
    return (await this.#conversions?.convert(route, this.#editsOf(route))) === null;
  }

  cured(route: Route): void {
    const cure = this.#cures?.get(route);
    const { leftOutStates, rewrites } = this.#last;
    // A refusal that quotes the client may name what the request does not have.
    if (cure !== undefined && 'protocol' in cure && rewrites.includes(cure.id)) {
      learnQuirk(route, cure);
    }
    const { affinity, clock } = this.#parts;
    const { conversation } = this.#prepared;
    if (leftOutStates === 0 || conversation === null) return;
    affinity.refused(conversation, route, leftOutStates, clock.monotonic());
  }

  /** What the upstream is known to refuse of this request. */
  #editsOf(route: Route): RouteEdits {
    const { affinity, clock } = this.#parts;
    const { conversation } = this.#prepared;
    const withoutState =
      conversation === null ? 0 : affinity.refusedBy(conversation, route, clock.monotonic());
    const quirks = learnedQuirks(route);
    const cure = this.#cures?.get(route);
    if (withoutState === 0 && quirks.length === 0 && cure === undefined) return noEdits;
    return withCure({ withoutState, quirks }, cure);
  }

  errorOf(failure: AttemptFailure): GatewayError {
    return errorOfFailure(failure, this.#prepared.request.json);
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
