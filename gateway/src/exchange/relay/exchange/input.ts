import type { GatewayError } from '#errors/index.ts';
import type { Caller } from '#identity/index.ts';
import type { OperationName, ProtocolName } from '#canonical/index.ts';
import type { ParseRoom } from '#json/index.ts';
import type { ClientResponse } from './client-response.ts';

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
  /** Makes room for this many bytes beside everything else. False: there is none. A negative number gives room back. */
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
