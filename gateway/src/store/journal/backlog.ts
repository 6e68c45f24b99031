import type { Place } from './mark.ts';
import type { FromApplier } from './messages.ts';

/**
 * The records on disk that are not in the database yet, as known to the request thread: the writer reports what reached
 * the disk, the applier what reached the database. All times are milliseconds of a monotonic clock.
 */
export interface Backlog {
  /** A writer starts and will report how much is on disk; until then the number is unknown. */
  recount(): void;
  /** A starting writer found this much on disk. */
  counted(count: number, bytes: number): void;
  /** This much more is on disk. */
  written(count: number, bytes: number): void;
  /** This batch and every earlier one are in the database. */
  applied(batch: Applied): void;
  /** The number of records. */
  readonly depth: number;
  readonly bytes: number;
  /** How far the database is; null: as far as the journal says. */
  readonly appliedPlace: Place | null;
  /** Resolves once everything from the first count is in the database. */
  readonly caughtUp: Promise<void>;
  /** Everything on disk by then is in the database. */
  readonly appliedUntil: number;
}

type Applied = Pick<Extract<FromApplier, { kind: 'applied' }>, 'place' | 'count' | 'bytes'>;

/** @param now milliseconds, monotonic */
export function createBacklog(now: () => number): Backlog {
  let depth = 0;
  let bytes = 0;
  let appliedPlace: Place | null = null;
  let counting = true;
  /** A time, and how many of the records on disk at that time are not in the database yet. */
  let mark = { at: now(), left: 0 };
  let appliedUntil = -Infinity;
  const caughtUp = Promise.withResolvers<void>();

  function add(count: number, size: number): void {
    depth += count;
    bytes += size;
  }

  return {
    recount() {
      // From here on, applied records are subtracted from the writer's coming report.
      depth = 0;
      bytes = 0;
      counting = true;
    },
    counted(count, size) {
      add(count, size);
      counting = false;
      mark = { at: now(), left: depth };
      if (depth <= 0) caughtUp.resolve();
    },
    written: add,
    applied(batch) {
      add(-batch.count, -batch.bytes);
      appliedPlace = batch.place;
      // Batches are applied in order: those of the previous process come first.
      mark.left -= batch.count;
      if (mark.left > 0 || counting) return;
      caughtUp.resolve();
      appliedUntil = mark.at;
      mark = { at: now(), left: depth };
    },
    get depth() {
      // The applier may report a batch before the writer's own reply has been read.
      return Math.max(depth, 0);
    },
    get bytes() {
      return bytes;
    },
    get appliedPlace() {
      return appliedPlace;
    },
    caughtUp: caughtUp.promise,
    get appliedUntil() {
      return depth <= 0 && !counting ? now() : appliedUntil;
    },
  };
}
