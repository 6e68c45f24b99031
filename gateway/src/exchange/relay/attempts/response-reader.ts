import { GatewayError } from '#errors/index.ts';

/** Reads complete responses of upstreams. */
export interface ResponseReader<Result> {
  /** In bytes. A larger response fails its attempt. */
  readonly largest: number;
  /** The request determines the size: too large a response is no channel's fault, and another one would be as large. */
  readonly sizeIsRequested?: boolean;
  /** @throws UnreadableResponse when the body is not what the protocol promises. */
  read(body: Buffer): Result;
  /**
   * Has a large response read in a thread. Returns null if it is to be read here; if the method is absent, all are.
   * @param body is handed over.
   */
  readInThread?(body: Buffer): ReadingResponse<Result> | null;
  /** Called with the response that will be used, before the client sees it. */
  accept?(response: Result): void;
}

export interface ReadingResponse<Result> {
  /** @throws UnreadableResponse, ResponseTooComplex, GatewayError `unavailable` */
  readonly result: Promise<Result>;
  /** Says that nobody waits for the result any more. */
  abandon(): void;
}

/** A response took more time or memory to read than it may. */
export class ResponseTooComplex extends Error {}

/** @throws ResponseTooComplex when a thread gave up, otherwise the error itself. */
export function threadRefused(error: unknown): never {
  const isTooComplex = error instanceof GatewayError && error.errorName === 'too_complex';
  throw isTooComplex ? new ResponseTooComplex('a thread gave up', { cause: error }) : error;
}
