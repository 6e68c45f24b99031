import type { FromApplier } from './messages.ts';

/**
 * The records that are on disk and not yet in the database, as the thread of requests is told of them: the writer says
 * what came onto the disk, the applier what reached the database. All times are milliseconds of a clock that never
 * steps.
 */
export interface Backlog {
  /** A writer starts and will say how much is on disk; until then nobody knows. */
  recount(): void;
  /** The writer that starts found this much on disk. */
  counted(count: number, bytes: number): void;
  /** This much more is on disk. */
  written(count: number, bytes: number): void;
  /** A batch is in the database, and so is every one before it. */
  applied(batch: Applied): void;
  /** In records. */
  readonly depth: number;
  readonly bytes: number;
  /** The last batch that is known to be in the database; 0: none of this process. */
  readonly appliedUpTo: number;
  /** Resolves once everything that the first count found is in the database. */
  readonly caughtUp: Promise<void>;
  /** What was on disk by then is in the database. */
  readonly appliedUntil: number;
}

type Applied = Pick<Extract<FromApplier, { kind: 'applied' }>, 'upTo' | 'count' | 'bytes'>;

/** @param now milliseconds, monotonic. */
export function createBacklog(now: () => number): Backlog {
  let depth = 0;
  let bytes = 0;
  let appliedUpTo = 0;
  let counting = true;
  /** A moment, and how many of the records that were on disk then are not in the database yet. */
  let mark = { at: now(), left: 0 };
  let appliedUntil = -Infinity;
  const caughtUp = Promise.withResolvers<void>();

  function add(count: number, size: number): void {
    depth += count;
    bytes += size;
  }

  return {
    recount() {
      // From here on what is applied is taken off what the writer will say.
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
      appliedUpTo = batch.upTo;
      // Batches are applied in order: those of the process before come first.
      mark.left -= batch.count;
      if (mark.left > 0 || counting) return;
      caughtUp.resolve();
      appliedUntil = mark.at;
      mark = { at: now(), left: depth };
    },
    get depth() {
      // The applier may report a batch before the writer's own answer has been read.
      return Math.max(depth, 0);
    },
    get bytes() {
      return bytes;
    },
    get appliedUpTo() {
      return appliedUpTo;
    },
    caughtUp: caughtUp.promise,
    get appliedUntil() {
      return depth <= 0 && !counting ? now() : appliedUntil;
    },
  };
}
