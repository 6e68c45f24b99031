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
  /** `performance.now()` at arrival: durations come from the monotonic clock. */
  readonly startedAt: number;
  readonly caller: Caller;
  /** Resolves to the refusal of the rates, if they refuse; awaited before anything is sent. Never rejected. */
  readonly pendingRateCheck: Promise<Error | undefined> | null;
  readonly protocol: ProtocolName;
  readonly operation: OperationName;
  /** Decoded (no content encoding left). Empty once the relay has no more use for it. */
  body: Buffer;
  /** From the URL, where the protocol puts it there. */
  readonly pathModel: string | null;
  readonly pathStream: boolean | null;
  /** The client's request headers, lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly client: ClientResponse;
  /** The memory that the request holds for its body; absent: it is not bounded. */
  readonly memory?: RequestMemory;
}

/** What the relay tells the memory for bodies. */
export interface RequestMemory extends ParseRoom {
  /** The request's text is forgotten. Idempotent. */
  release(): void;
}
