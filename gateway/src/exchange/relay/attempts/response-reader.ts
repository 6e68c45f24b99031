import type { ReportedUsage } from '#canonical/index.ts';
import type { UnitsRecord } from '#usage/index.ts';

/** Reads complete responses of upstreams. */
export interface ResponseReader<Result> {
  /** In bytes. A larger response fails its attempt. */
  readonly largest: number;
  /** The request determines the size: too large a response is no channel's fault, and another one would be as large. */
  readonly sizeIsRequested?: boolean;
  /**
   * Here, or in a thread if it is large.
   * @param body is handed over.
   * @throws UnreadableResponse when the body is not what the protocol promises, UnchargedResponse.
   */
  read(body: Buffer): Result | ReadingResponse<Result>;
  /** Called with the response that will be used, before the client sees it. */
  accept?(response: Result): void;
}

/** A response that is still being read. */
export class ReadingResponse<Result> {
  /** @throws UnreadableResponse, UnchargedResponse, ResponseTooComplex, GatewayError `unavailable` */
  readonly result: Promise<Result>;
  /** Reports that the result is no longer needed. */
  readonly abandon: () => void;

  constructor(result: Promise<Result>, abandon: () => void = () => {}) {
    this.result = result;
    this.abandon = abandon;
  }

  /** The reading goes one step further. */
  with<Next>(step: (result: Result) => Next | Promise<Next>): ReadingResponse<Next> {
    return new ReadingResponse(this.result.then(step), this.abandon);
  }
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
