/** Reads the whole answers of upstreams. */
export interface ResponseReader<Answer> {
  /** Bytes. An answer with more ends its attempt. */
  readonly largest: number;
  /** @throws UnreadableResponse when it is not what the protocol promises. */
  read(body: Buffer): Answer;
  /**
   * Has a large answer read in a thread; null for one that is read here. Absent: all are.
   * @param body handed over.
   */
  readInThread?(body: Buffer): ReadingResponse<Answer> | null;
  /** Called with an answer that counts, before anybody sees it. */
  accept?(answer: Answer): void;
}

export interface ReadingResponse<Answer> {
  /** @throws UnreadableResponse, ResponseTooComplex, GatewayError `unavailable` */
  readonly result: Promise<Answer>;
  /** Nobody waits for it any more. */
  abandon(): void;
}

/** Why an answer could not be read in time, or in the memory that there is for it. */
export class ResponseTooComplex extends Error {}
