import type { Authority } from '#leases/index.ts';
import { giveUp, type Book } from './book.ts';

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
  const begun = new Map<string, Kept>();
  const asked = new Map<string, Kept & { readonly at: number }>();
  return {
    begin: (id, book, parts) => void begun.set(id, { book, parts }),
    end(id, outcome) {
      const kept = begun.get(id);
      if (kept === undefined) return;
      begun.delete(id);
      if (outcome === 'rolled-back') giveUp(kept.book, kept.parts);
      else asked.set(id, { ...kept, at: monotonic() + askAfterMs[outcome] });
    },
    async settle() {
      const due = [...asked].filter(([, { at }]) => monotonic() >= at);
      if (due.length === 0) return;
      const recorded = await authority.recorded(due.map(([id]) => id));
      for (const [id, { book, parts }] of due) {
        if (asked.delete(id) && !recorded.has(id)) giveUp(book, parts);
      }
    },
  };
}
