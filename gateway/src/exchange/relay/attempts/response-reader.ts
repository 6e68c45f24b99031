import type { ReportedUsage } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { UnitsRecord } from '#usage/index.ts';

/** Reads complete responses of upstreams. */
export interface ResponseReader<Result> {
  /** In bytes. A larger response fails its attempt. */
  readonly largest: number;
  /** The request determines the size: too large a response is no channel's fault, and another one would be as large. */
  readonly sizeIsRequested?: boolean;
  /** @throws UnreadableResponse when the body is not what the protocol promises, UnchargedResponse. */
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
  /** @throws UnreadableResponse, UnchargedResponse, ResponseTooComplex, GatewayError `unavailable` */
  readonly result: Promise<Result>;
  /** Says that nobody waits for the result any more. */
  abandon(): void;
}

/** A response that cannot be charged although the upstream made it: the client must not get it. */
export class UnchargedResponse extends Error {
  /** A short word for the usage row. */
  readonly result: string;
  /** What the operator pays for. */
  readonly usage: ReportedUsage | null;
  readonly units: UnitsRecord;
  constructor(result: string, usage: ReportedUsage | null, units: UnitsRecord) {
    super(result);
    this.name = 'UnchargedResponse';
    this.result = result;
    this.usage = usage;
    this.units = units;
  }
}

/** A response took more time or memory to read than it may. */
export class ResponseTooComplex extends Error {}

/** @throws ResponseTooComplex when a thread gave up, otherwise the error itself. */
export function threadRefused(error: unknown): never {
  const isTooComplex = error instanceof GatewayError && error.errorName === 'too_complex';
  throw isTooComplex ? new ResponseTooComplex('a thread gave up', { cause: error }) : error;
}
