import type { Authority } from '#leases/index.ts';
import { giveUp, type Book } from './book.ts';

/** A charge whose record may not have been written. */
interface Charge {
  readonly book: Book;
  readonly parts: ReadonlyMap<string, bigint>;
  /** When a later record was written, by the monotonic clock: if it is in the database without this one, this one is lost. */
  laterAt: number | null;
}

/** Charges whose records were not written for certain: what they take of the leases goes back once they are known to be lost. */
export interface Unwritten {
  /** The record of this charge is about to be written. */
  begin(id: string, book: Book, parts: ReadonlyMap<string, bigint>): void;
  /** The attempt to write the record has ended; one that failed may have written it nevertheless. */
  end(id: string, isWritten: boolean): void;
  /** Gives back what lost charges took. Rejects if the database is unreachable. */
  settle(): Promise<void>;
}

export interface UnwrittenOptions {
  readonly authority: Pick<Authority, 'recorded'>;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** By that clock: what was recorded before it is in the database. */
  readonly appliedUntil: () => number;
}

export function createUnwritten(options: UnwrittenOptions): Unwritten {
  const { authority, monotonic, appliedUntil } = options;
  const begun = new Map<string, Charge>();
  const failed = new Map<string, Charge>();
  return {
    begin: (id, book, parts) => void begun.set(id, { book, parts, laterAt: null }),
    end(id, isWritten) {
      const charge = begun.get(id);
      if (charge === undefined) return;
      begun.delete(id);
      if (!isWritten) failed.set(id, charge);
      else for (const one of failed.values()) one.laterAt ??= monotonic();
    },
    async settle() {
      const due = [...failed].filter(([, { laterAt }]) => (laterAt ?? Infinity) < appliedUntil());
      if (due.length === 0) return;
      const recorded = await authority.recorded(due.map(([id]) => id));
      for (const [id, { book, parts }] of due) {
        if (failed.delete(id) && !recorded.has(id)) giveUp(book, parts);
      }
    },
  };
}
