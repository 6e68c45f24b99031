import type { Place } from './mark.ts';
import type { FromApplier } from './messages.ts';

type Applied = Pick<Extract<FromApplier, { kind: 'applied' }>, 'place' | 'count' | 'bytes'>;

/**
 * The records on disk that are not in the database yet, as known to the request thread: the writer reports what reached
 * the disk, the applier what reached the database. All times are milliseconds of a monotonic clock.
 */
export class Backlog {
  bytes = 0;
  /** All that this process has written, applied or not. */
  writtenBytes = 0;
  /** How far the database is; null: as far as the journal says. */
  appliedPlace: Place | null = null;
  readonly #now: () => number;
  #depth = 0;
  #isCounting = true;
  /** A time, and how many of the records on disk at that time are not in the database yet. */
  #mark: { readonly at: number; remaining: number };
  #appliedUntil = -Infinity;
  readonly #caughtUp = Promise.withResolvers<void>();
  /** Resolves once everything from the first count is in the database. */
  readonly caughtUp = this.#caughtUp.promise;

  /** @param now milliseconds, monotonic */
  constructor(now: () => number) {
    this.#now = now;
    this.#mark = { at: now(), remaining: 0 };
  }

  /** A writer starts and will report how much is on disk; until then the number is unknown. */
  recount(): void {
    // From here on, applied records are subtracted from the writer's coming report.
    this.#depth = 0;
    this.bytes = 0;
    this.#isCounting = true;
  }

  /** A starting writer found this much on disk. */
  counted(count: number, bytes: number): void {
    this.#depth += count;
    this.bytes += bytes;
    this.#isCounting = false;
    this.#mark = { at: this.#now(), remaining: this.#depth };
    if (this.#depth <= 0) this.#caughtUp.resolve();
  }

  /** This much more is on disk. */
  written(count: number, bytes: number): void {
    this.#depth += count;
    this.bytes += bytes;
    this.writtenBytes += bytes;
  }

  /** This batch and every earlier one are in the database. */
  applied({ place, count, bytes }: Applied): void {
    this.#depth -= count;
    this.bytes -= bytes;
    this.appliedPlace = place;
    // Batches are applied in order: those of the previous process come first.
    this.#mark.remaining -= count;
    if (this.#mark.remaining > 0 || this.#isCounting) return;
    this.#caughtUp.resolve();
    this.#appliedUntil = this.#mark.at;
    this.#mark = { at: this.#now(), remaining: this.#depth };
  }

  /** The number of records. */
  get depth(): number {
    // The applier may report a batch before the writer's own reply has been read.
    return Math.max(this.#depth, 0);
  }

  /** Everything on disk by then is in the database. */
  get appliedUntil(): number {
    return this.#depth <= 0 && !this.#isCounting ? this.#now() : this.#appliedUntil;
  }
}
