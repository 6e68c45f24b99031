import type { Authority } from '#leases/index.ts';
import { returnLostCharge, type Book } from './book.ts';

/**
 * When the database is asked whether it has a task, by what became of the transaction. After a minute it has either
 * committed a transaction whose connection broke, or never will. After ten it does not lose anymore what it committed.
 */
const askAfterMs = { unknown: 60_000, committed: 600_000 } as const;

/** A hold that went from these leases to a task. */
interface Kept {
  readonly book: Book;
  readonly parts: ReadonlyMap<string, bigint>;
}

/**
 * Holds that have become those of tasks. The leases believe in each until it is known that the database does not have the
 * task: the transaction failed, or the database went back in time. Then what it took of them is free again.
 */
export interface KeptHolds {
  /** The transaction of the task is about to begin. */
  begin(id: string, book: Book, parts: ReadonlyMap<string, bigint>): void;
  end(id: string, outcome: 'committed' | 'rolled-back' | 'unknown'): void;
  /** Gives back what lost tasks took. Rejects if the database is unreachable. */
  settle(): Promise<void>;
}

/** @param monotonic milliseconds */
export function createKeptHolds(
  authority: Pick<Authority, 'recorded'>,
  monotonic: () => number,
): KeptHolds {
  const begunHolds = new Map<string, Kept>();
  const pendingHolds = new Map<string, Kept & { readonly at: number }>();
  return {
    begin: (id, book, parts) => void begunHolds.set(id, { book, parts }),
    end(id, outcome) {
      const taskHold = begunHolds.get(id);
      if (taskHold === undefined) return;
      begunHolds.delete(id);
      if (outcome === 'rolled-back') returnLostCharge(taskHold.book, taskHold.parts);
      else pendingHolds.set(id, { ...taskHold, at: monotonic() + askAfterMs[outcome] });
    },
    async settle() {
      const dueHolds = [...pendingHolds].filter(([, { at }]) => monotonic() >= at);
      if (dueHolds.length === 0) return;
      const recordedIds = await authority.recorded(dueHolds.map(([id]) => id));
      for (const [id, { book, parts }] of dueHolds) {
        if (pendingHolds.delete(id) && !recordedIds.has(id)) returnLostCharge(book, parts);
      }
    },
  };
}
