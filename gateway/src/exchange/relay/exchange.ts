import type { Caller } from '#identity/index.ts';
import type { TextOperationName, TextProtocolName } from '#canonical/index.ts';
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
  /** Whether the rates refuse it, while that is being asked: known before anything is sent. Never rejected. */
  readonly undecided: Promise<Error | undefined> | null;
  readonly protocol: TextProtocolName;
  readonly operation: TextOperationName;
  /** Decoded (no content encoding left). Empty once the relay has no more use for it. */
  body: Buffer;
  /** From the URL, where the protocol puts it there. */
  readonly pathModel: string | null;
  readonly pathStream: boolean | null;
  /** How a streamed answer is framed: `json-array` is generate-content without `alt=sse`. */
  readonly framing: 'event-stream' | 'json-array';
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

export interface Relay {
  /**
   * Runs the exchange to its end: the answer is written, the usage row is durable. Resolves then.
   * @throws GatewayError when nothing has been written yet: the caller renders it. The row is durable already.
   */
  run(input: ExchangeInput): Promise<void>;
}
