import type { Route } from '#catalogue/index.ts';
import type { ConvertedRequest } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { ResponseEcho, PatchedRequest } from '#protocols/index.ts';
import type { ChannelLease } from '#routing/index.ts';
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
  largeRequestFor,
  requestFor,
  type RouteRequest,
  type TextRequest,
} from './route-request.ts';
import { stateNotFound } from './state/state-not-found.ts';
import type { TextSent } from './text-sent.ts';

/** Sends what is ready. What it returns must not keep `request`. */
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
  /** In place of the client's betas; null: they pass as they are. */
  readonly betas: string | null;
  readonly #start: StartAttempt<Outcome>;

  constructor(
    route: Route,
    converted: ConvertedRequest | null,
    { sent, patched, betas }: RouteRequest,
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
    this.#start = start;
  }

  send(lease: ChannelLease, started: number): RunningAttempt<Outcome> {
    return this.#start(this, lease, started);
  }
}

/** Sends a text request as it came to channels of the client's own protocol, and converted to the others. */
export class TextSender<Outcome extends AttemptOutcome> implements Sender<TextSent, Outcome> {
  readonly kind: 'stream' | 'buffered';
  readonly model: string;
  readonly #parts: TextParts;
  readonly #input: TextInput;
  readonly #prepared: PreparedText;
  readonly #start: StartAttempt<Outcome>;
  /** Null until a channel of another protocol has its turn. */
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

  /** The credential that what the request names was made with: another one may belong to another account. */
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
    // From the first byte on, not from the last: agents send the requests of a session side by side.
    if (conversation !== null) affinity.used(conversation, route, clock.monotonic());
    const converted = this.#conversions?.of(route) ?? null;
    if (converted === null && large?.isRead) return this.#buildLarge(route, large);
    const protocol = protocols[this.#input.protocol];
    const request = requestFor(protocol, this.#input, this.#prepared, route, converted);
    return new ReadyText(route, converted, request, this.#start);
  }

  async #buildLarge(route: Route, large: LargeBody): Promise<ReadyText<Outcome>> {
    const request = await largeRequestFor(this.#input, this.#prepared, large, route);
    return new ReadyText(route, null, request, this.#start);
  }

  errorOf(failure: AttemptFailure): GatewayError {
    return errorOfTextFailure(failure, this.#prepared.request);
  }

  /**
   * Does the channel refuse what the request names (404, 403), rather than the model? Vendors say both with the same
   * status, and whoever names an id that is gone must not decide for others which models a channel has.
   */
  lacksState(route: Route, { classification }: AttemptFailure): boolean {
    if (classification.kind !== 'failover' || classification.blame !== 'model') return false;
    // To another protocol's upstream no id is passed on.
    return this.#prepared.request.named !== undefined && this.#isNative(route);
  }

  stateError(): GatewayError {
    return stateNotFound(this.#prepared.request.named?.[0] ?? { kind: 'item', param: 'input' });
  }

  /** Lets go of what was converted: no other route is going to be asked. */
  forget(): void {
    this.#conversions?.forget();
  }

  #isNative({ channel }: Route): boolean {
    return channel.protocols.includes(this.#input.protocol);
  }
}

/** @param request not kept. */
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
