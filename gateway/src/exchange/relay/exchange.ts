import type { Billing, Hold } from '#billing/index.ts';
import type { OperationName, ProtocolName } from '#canonical/index.ts';
import type { CatalogueSnapshot, Model } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { Caller } from '#identity/index.ts';
import type { CondensedJournal } from '#journal/index.ts';
import type { ParseRoom } from '#json/index.ts';
import type { ExchangeObserver } from '#observability/index.ts';
import type { Clock } from './ticker.ts';

/** One request being served, with what admission has found out so far. */
export interface Exchange<Input extends ExchangeInput = ExchangeInput> {
  readonly input: Input;
  /** As the client wrote it; empty until it is known. */
  model: string;
  /** The model's entry in the catalogue; null until it is known, or if there is none. */
  catalogueModel: Model | null;
  /** The money held; null before that, and if nothing is billed. */
  hold: Hold | null;
  stream: boolean;
  /**
   * How often the client's SDK has sent this request before, according to `x-stainless-retry-count`; 0 if the header is
   * absent or not a number. A repeated request is treated like any other; the count appears only in the log.
   */
  readonly retryCount: number;
  /** Identifies equal bodies in the log; null if the log needs none. */
  readonly bodyDigest: string | null;
}

export function openExchange<Input extends ExchangeInput>(
  { digestBody }: Pick<ExchangeParts, 'digestBody'>,
  input: Input,
): Exchange<Input> {
  const retries = input.headers['x-stainless-retry-count'];
  const isNumber = typeof retries === 'string' && /^\d{1,2}$/.test(retries);
  const retryCount = isNumber ? Number(retries) : 0;
  return {
    input,
    model: input.pathModel ?? '',
    catalogueModel: null,
    hold: null,
    stream: input.pathStream ?? false,
    retryCount,
    // Computed now, because the body is gone once a response is shown.
    bodyDigest: retryCount > 0 && input.body.length > 0 ? digestBody(input.body) : null,
  };
}

/**
 * Whether the client may send the request again: after the statuses that the SDKs of both vendors retry (`shouldRetry`
 * in their clients), and after 499, because a client that did not wait may come back.
 */
export function mayBeRetried(status: number): boolean {
  return status >= 499 || status === 429 || status === 408 || status === 409;
}

/** What every exchange needs, whatever its operation. */
export interface ExchangeParts {
  readonly snapshot: () => CatalogueSnapshot;
  readonly journal: Pick<CondensedJournal, 'append' | 'begin' | 'usable' | 'unpaidFor'>;
  /** `isOutdated`: the database needs a newer program, which alone may then charge. */
  readonly revisions: { readonly isOutdated: boolean };
  readonly billing: Billing;
  /** The gateway's settings; a channel's own take precedence. */
  readonly timeouts: Timeouts;
  /** Whether the texts of errors are kept at all. */
  readonly keepsErrorTexts: boolean;
  /** How a response is charged if its upstream reports no usage. */
  readonly missingUsage: 'estimate' | 'zero' | 'error';
  readonly clock: Clock;
  readonly observer: ExchangeObserver;
  /** In [0, 1). */
  readonly random: () => number;
  /** A short text, the same for the same bytes, that reveals nothing about them. */
  readonly digestBody: (body: Buffer) => string;
  /** Called with defects of the gateway and the exchange that they affect. */
  readonly onUnexpectedError: (error: unknown, exchangeId: string) => void;
}

/** One authenticated client request with its whole body, ready for the relay. */
export interface ExchangeInput {
  /** `req_` + 24 characters. */
  readonly id: string;
  /** Unix milliseconds of arrival. */
  readonly arrivedAt: number;
  /** `performance.now()` at arrival, because durations come from the monotonic clock. */
  readonly startedAt: number;
  readonly caller: Caller;
  /** Resolves to the rates' refusal, or to null; awaited before money is held. Never rejects. */
  readonly pendingRateCheck: Promise<Error | undefined> | null;
  readonly protocol: ProtocolName;
  readonly operation: OperationName;
  /** Decoded: without content encoding. Empty once the relay no longer needs it. */
  body: Buffer;
  /** The model from the URL, in protocols that have it there. */
  readonly pathModel: string | null;
  readonly pathStream: boolean | null;
  /** The client's request headers, lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly client: ClientResponse;
  /** The memory reserved for the request's body; absent: it is not limited. */
  readonly memory?: RequestMemory;
}

/** How the relay tells the budget for bodies that it needs less. */
export interface RequestMemory extends ParseRoom {
  /** Makes room for a response of this many bytes. False: there is none. */
  tryResponse(bytes: number): boolean;
  /** The refusal for a request that gets no more room. */
  refuse(): GatewayError;
  /** Makes room for this many more bytes. False: there is none. A negative number gives room back. */
  tryMore(bytes: number): boolean;
  /**
   * Something is read for the request. `giveWay` ends that if it keeps other keys waiting for too long. Absent where
   * there are no others.
   */
  startReading?(giveWay: (refusal: GatewayError) => void): void;
  endReading?(): void;
  /** The request's body and what it became are no longer in memory; a response may still come. */
  forgetBody(): void;
  /** The request's text is no longer in memory. May be called several times. */
  release(): void;
}

/**
 * The client's side of an exchange, as the relay uses it. `http` makes one over a Node response. It uses callbacks
 * instead of promises because it runs for every chunk.
 */
export interface ClientResponse {
  /** Sends status and head; called once. The gateway's own headers (`x-request-id`) are already set. */
  start(status: number, headers: Readonly<Record<string, string>>): void;
  /** Returns false when the socket's buffer is full: wait for `onDrain` before writing more. */
  write(bytes: Buffer | string): boolean;
  /**
   * Answers with an error before the exchange has ended. From then on the client counts as one that has left. Does
   * nothing if a response has begun.
   */
  fail(error: GatewayError): void;
  /** The error that it was answered with by `fail`; null: none. */
  readonly failedWith: GatewayError | null;
  /** Ends the body, after these last bytes if given. */
  end(bytes?: Buffer | string): void;
  readonly headSent: boolean;
  /** The client closed its connection before the end of the response. A half-closed client has not left. */
  readonly disconnected: boolean;
  /**
   * The client has closed its sending side. It may still be reading: only a write shows whether the socket is closed
   * altogether.
   */
  readonly halfClosed: boolean;
  /** Sets the only listener. It is called once, at once if the client has already left. */
  onDisconnect(listener: () => void): void;
  onDrain(listener: () => void): void;
}

/** Writes a whole JSON body, and ends the response. */
export function writeJson(
  client: Pick<ClientResponse, 'start' | 'end'>,
  body: Buffer | string,
  headers: Readonly<Record<string, string>>,
): void {
  client.start(200, {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  });
  client.end(body);
}

/** The client left before anything was done that it would have to pay for. */
export class ClientGone extends Error {}
