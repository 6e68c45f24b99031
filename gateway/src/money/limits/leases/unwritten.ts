import type { Authority } from '#leases/index.ts';
import { returnLostCharge, type Book } from './book.ts';

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
  const begunCharges = new Map<string, Charge>();
  const failedCharges = new Map<string, Charge>();
  return {
    begin: (id, book, parts) => void begunCharges.set(id, { book, parts, laterAt: null }),
    end(id, isWritten) {
      const charge = begunCharges.get(id);
      if (charge === undefined) return;
      begunCharges.delete(id);
      if (!isWritten) failedCharges.set(id, charge);
      else for (const one of failedCharges.values()) one.laterAt ??= monotonic();
    },
    async settle() {
      const dueCharges = [...failedCharges].filter(
        ([, { laterAt }]) => (laterAt ?? Infinity) < appliedUntil(),
      );
      if (dueCharges.length === 0) return;
      const recordedIds = await authority.recorded(dueCharges.map(([id]) => id));
      for (const [id, { book, parts }] of dueCharges) {
        if (failedCharges.delete(id) && !recordedIds.has(id)) returnLostCharge(book, parts);
      }
    },
  };
}
