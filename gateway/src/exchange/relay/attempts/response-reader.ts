/** Reads the whole responses of upstreams. */
export interface ResponseReader<Result> {
  /** Bytes. A response with more ends its attempt. */
  readonly largest: number;
  /** @throws UnreadableResponse when it is not what the protocol promises. */
  read(body: Buffer): Result;
  /**
   * Has a large response read in a thread; null for one that is read here. Absent: all are.
   * @param body handed over.
   */
  readInThread?(body: Buffer): ReadingResponse<Result> | null;
  /** Called with a response that counts, before anybody sees it. */
  accept?(response: Result): void;
}

export interface ReadingResponse<Result> {
  /** @throws UnreadableResponse, ResponseTooComplex, GatewayError `unavailable` */
  readonly result: Promise<Result>;
  /** Nobody waits for it any more. */
  abandon(): void;
}

/** Why a response could not be read in time, or in the memory that there is for it. */
export class ResponseTooComplex extends Error {}
