import { unleasedLife } from '#leases/index.ts';
import type { HoldRequest } from '../money.ts';
import { createBook, end, type Book } from './book.ts';

export interface UnleasedOptions {
  /**
   * What a payer may spend without a lease on all nodes together, unless its requests say otherwise, in nano-USD; 0n:
   * nothing.
   */
  readonly unleasedMost: bigint;
  /** How many nodes share it, at least 1. */
  readonly liveNodes: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** By that clock: what was recorded before it is in the database. */
  readonly appliedUntil: () => number;
}

interface Payer {
  heldAmount: bigint;
  /** Charges that may not be in the database yet. */
  charged: bigint;
  /** Holds whose charges, if any, are not in the journal yet. */
  open: number;
  /** When the last of them came into the journal. */
  recordedAt: number;
}

/**
 * What is served without a lease while the database is unreachable: for each payer up to an amount, since others may
 * spend the same money. The charges are booked like late ones, once the database is back.
 */
export interface Unleased {
  /** Whether any payer that was seen may spend something. */
  readonly isWanted: boolean;
  /** The holds, of all payers. No lease is in it. */
  readonly book: Book;
  /** Held or charged now, of all payers. */
  readonly amount: bigint;
  /** Call it for each request: that of a payer who may spend something makes it wanted. */
  note(request: HoldRequest): void;
  /** @returns false if the request is for more than its payer may still spend */
  take(request: HoldRequest): boolean;
  /** Ends a hold of the book. @returns by meter: the charge, which lies in no lease */
  end(id: string, cost: bigint): ReadonlyMap<string, bigint>;
  /** The charge of an ended hold is in the journal, or there is none. Does nothing for another hold. */
  recorded(id: string): void;
}

export function createUnleased(options: UnleasedOptions): Unleased {
  const { unleasedMost, liveNodes, monotonic, appliedUntil } = options;
  const book = createBook(unleasedLife, 0);
  const payers = new Map<string, Payer>();
  let isWanted = unleasedMost > 0n;
  const holds = new Map<string, { readonly payer: Payer; readonly amount: bigint }>();

  /** Forgets charges that the database has. */
  const forgetBooked = (): void => {
    const applied = appliedUntil();
    for (const [name, payer] of payers) {
      if (payer.open > 0) continue;
      if (payer.charged === 0n || payer.recordedAt < applied) payers.delete(name);
    }
  };

  return {
    book,
    get isWanted() {
      return isWanted;
    },
    note(request) {
      if (!isWanted && (request.unleasedMost ?? 0n) > 0n) isWanted = true;
    },
    get amount() {
      forgetBooked();
      return payers.values().reduce((sum, payer) => sum + payer.heldAmount + payer.charged, 0n);
    },
    take({ id, amount, meters, isExact = false, unleasedMost: own }) {
      const payerMost = own ?? unleasedMost;
      // A task is created in the database, which is not there.
      if (payerMost === 0n || isExact) return false;
      forgetBooked();
      const names = meters.map(({ name }) => name);
      const payerName = payerOf(names);
      const payer = payers.get(payerName) ?? {
        heldAmount: 0n,
        charged: 0n,
        open: 0,
        recordedAt: 0,
      };
      const most = payerMost / BigInt(Math.max(1, liveNodes()));
      if (payer.heldAmount + payer.charged + amount > most) return false;
      payers.set(payerName, payer);
      payer.heldAmount += amount;
      payer.open += 1;
      holds.set(id, { payer, amount });
      book.holds.set(id, { amount, isVoid: false, meters: names, shortOn: [] });
      return true;
    },
    end(id, cost) {
      const { meters } = book.holds.get(id)!;
      end(book, id, cost);
      const { payer, amount } = holds.get(id)!;
      payer.heldAmount -= amount;
      payer.charged += cost;
      return new Map(meters.map((meter) => [meter, cost]));
    },
    recorded(id) {
      const hold = holds.get(id);
      if (hold === undefined) return;
      holds.delete(id);
      hold.payer.open -= 1;
      hold.payer.recordedAt = monotonic();
    },
  };
}

/** The team that pays, otherwise the user. */
function payerOf(meters: readonly string[]): string {
  const payer =
    meters.find((name) => name.startsWith('team:')) ??
    meters.find((name) => name.startsWith('user:'));
  return (payer ?? meters[0] ?? '').split(':', 2).join(':');
}
