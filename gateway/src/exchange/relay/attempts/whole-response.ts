import type { CollectedBody } from '#bodies/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { ReceivedAttempt, Receiver } from './receiver.ts';
import { type AttemptFailure, brokenAttempt } from './outcome.ts';
import { ReadingResponse, type ResponseReader } from './response-reader.ts';

/** How long a response is read after its client has left: it is charged anyway, and its row needs the usage. */
const drainMs = 120_000;

/** In bytes. */
const largeResponse = 8 * 1024 * 1024;

/** Receives a response that the client gets in one piece or not at all. */
export class WholeResponse<Result> implements Receiver<Result, never> {
  attempt!: ReceivedAttempt<Result, never>;
  readonly takes = 'whole';
  readonly drainMs = drainMs;
  readonly #reader: ResponseReader<Result>;

  constructor(reader: ResponseReader<Result>) {
    this.#reader = reader;
  }

  check({ length }: CollectedBody): void {
    const { largest, sizeIsRequested } = this.#reader;
    const { attempt } = this;
    if (length > largest) attempt.fail(tooLarge(attempt, sizeIsRequested));
    else attempt.hasRoom(length, largest, Number(attempt.upstreamHeaders['content-length']) || 0);
  }

  read(body: CollectedBody): void {
    this.attempt.fitRoom(body.length);
    if (body.length < largeResponse) this.#read(body.whole());
    else void this.#readInTurns(body);
  }

  /** A copy of tens of megabytes would hold up everybody else. */
  async #readInTurns(collectedBody: CollectedBody): Promise<void> {
    try {
      const body = await collectedBody.wholeInTurns();
      if (!this.attempt.over) this.#read(body);
    } catch (error) {
      this.attempt.failReading(error);
    }
  }

  #read(body: Buffer): void {
    const { attempt } = this;
    const reader = this.#reader;
    try {
      const response = reader.read(body);
      if (response instanceof ReadingResponse) {
        void this.#readElsewhere(attempt.awaitReading(response));
      } else {
        reader.accept?.(response);
        attempt.complete(response);
      }
    } catch (error) {
      attempt.failReading(error);
    }
  }

  async #readElsewhere(reading: Promise<Result>): Promise<void> {
    const { attempt } = this;
    try {
      const response = await reading;
      if (attempt.over) return;
      this.#reader.accept?.(response);
      attempt.complete(response);
    } catch (error) {
      attempt.failReading(error);
    }
  }
}

/** @param isRequested the request determines the size: no channel is to blame, and another would send as much */
export function tooLarge(
  { status }: Pick<ReceivedAttempt<never, never>, 'status'>,
  isRequested = false,
): AttemptFailure {
  const failure = brokenAttempt(status, 'started', 'answer-too-large');
  return isRequested ? { ...failure, final: new GatewayError('upstream_abnormal') } : failure;
}
