import { amountOf, leasesOn, unleasedLife, type LeaseRow, type View } from '#leases/index.ts';

/** The money of one usage row. */
export interface Settlement {
  /** The life whose leases the charge lay in; null: in none. */
  readonly life: string | null;
  readonly cost: bigint;
  /** By meter: the part of the cost that lay in a lease. */
  readonly parts: ReadonlyMap<string, bigint>;
}

/**
 * Moves a charge from the lease to what is spent. Call it once per usage row, in the transaction that inserts it. What a
 * closed life had left may be released already: then its charge is late, and only counts as spent.
 */
export function settle(view: View, { life, cost, parts }: Settlement): void {
  for (const [meter, part] of parts) {
    const row = view.meters.get(meter)!;
    row.spent += cost;
    if (part === 0n || life === null || life === unleasedLife) continue;
    if (isClosed(view, life) && !leasesOn(view, meter).has(life)) continue;
    settledBy(view, meter, life).settled += part;
    row.leased -= part;
  }
}

const isClosed = ({ lives }: View, life: string): boolean => lives.get(life)?.closed === true;

/**
 * A database that went back may know neither the lease nor the life. Then the row is below 0 until the life states what
 * it has drawn, or is closed.
 */
function settledBy(view: View, meter: string, life: string): LeaseRow {
  if (!view.lives.has(life)) {
    view.lives.set(life, { number: 0, generation: 0, seenAt: view.now, closed: false });
  }
  const leases = leasesOn(view, meter);
  let lease = leases.get(life);
  if (lease === undefined) leases.set(life, (lease = { drawn: 0n, settled: 0n, answered: 0 }));
  return lease;
}

interface TaskHolding {
  readonly life: string;
  readonly amount: bigint;
  readonly parts: ReadonlyMap<string, bigint>;
}

/**
 * Moves a hold from its leases to a task.
 * @returns false if a lease was freed meanwhile: then nothing is done.
 */
export function holdForTask(
  view: View,
  { life, amount, parts }: TaskHolding,
  { ignoresLate, holdsBeside }: { ignoresLate?: boolean; holdsBeside?: boolean } = {},
): boolean {
  const isLate = (meter: string) => isClosed(view, life) && !leasesOn(view, meter).has(life);
  if (ignoresLate !== true && [...parts.keys()].some(isLate)) return false;
  for (const [meter, part] of parts) {
    const row = view.meters.get(meter)!;
    row.held += amount;
    if (holdsBeside === true || isLate(meter)) continue;
    settledBy(view, meter, life).settled += part;
    row.leased -= part;
  }
  return true;
}

/** Gives back what the leases of a closed life have left. Idempotent. */
export function release(view: View, life: string): void {
  for (const [meter, leases] of view.leases) {
    const row = view.meters.get(meter)!;
    const lease = leases.get(life);
    if (lease !== undefined) row.leased -= amountOf(lease);
    leases.delete(life);
    if (row.short?.life === life) row.short = null;
    if (row.ticket?.life === life) row.ticket = null;
  }
}
