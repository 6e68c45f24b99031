/**
 * The rows that decide about money. Everything here is plain data; amounts are nano-USD, times are milliseconds of the
 * database's clock.
 */
export interface MeterRow {
  spent: bigint;
  /** The sum of what its leases have left: drawn and not settled. */
  leased: bigint;
  /** Held by tasks that outlive processes. Commands do not change it. */
  held: bigint;
  /** How often idle money was called back. */
  recall: number;
  /** Who draws first: the oldest request that found too little. */
  ticket: Ticket | null;
  /** The only hold that may be in force for less than its request may cost. */
  short: Owner | null;
}

/** A meter of which nothing is leased yet. */
export const newMeter = (spent: bigint): MeterRow => ({
  spent,
  leased: 0n,
  held: 0n,
  recall: 0,
  ticket: null,
  short: null,
});

/** A request of a life. */
export interface Owner {
  readonly life: string;
  readonly id: string;
}

export interface Ticket extends Owner {
  /** Void from then on. */
  readonly until: number;
}

/** What one life of a node has drawn on one meter. Both sums only grow, except that `drawn` is lowered by a return. */
export interface LeaseRow {
  /** Changed by commands of the life alone. */
  drawn: bigint;
  /** Changed by the transaction that inserts usage rows alone. */
  settled: bigint;
  /** The last recall after which this life had returned everything idle. */
  answered: number;
}

/** One process of a node. */
export interface LifeRow {
  /** The number of its last command. */
  number: number;
  /** See `View.generation`. */
  generation: number;
  /** Its last sign of life. */
  seenAt: number;
  /** Closed lives draw nothing, and what their leases have left is released. */
  closed: boolean;
}

/** What a transaction has locked and read: the meters it names, all leases on them, and the lives. */
export interface View {
  readonly meters: ReadonlyMap<string, MeterRow>;
  /** By meter and life. A transaction adds and removes rows. */
  readonly leases: ReadonlyMap<string, Map<string, LeaseRow>>;
  readonly lives: Map<string, LifeRow>;
  /** As the database knows them; absent: no limit. */
  readonly limits: ReadonlyMap<string, bigint>;
  /** Grows when the database turns out to have gone back in time. */
  generation: number;
  generationAt: number;
  readonly now: number;
}

export interface Rules {
  /** How long a ticket is in force. */
  readonly ticketMs: number;
  /** After this silence a life is not asked; what it has counts as taken. */
  readonly silentMs: number;
  /** After this silence a life is closed. */
  readonly ageMs: number;
  /** How long lives wait for each other after the database went back. */
  readonly restateMs: number;
  /** In thousandths: the share of what is left that lives may draw ahead of need together. */
  readonly share: bigint;
}

/** More than can ever be spent, since amounts have 64 bits. */
export const unlimited = 2n ** 63n - 1n;

export const leftOn = ({ spent, leased, held }: MeterRow, limit: bigint): bigint =>
  limit - spent - leased - held;

/** What a lease backs or could back. */
export const amountOf = ({ drawn, settled }: LeaseRow): bigint => drawn - settled;

export function leasesOn(view: View, meter: string): Map<string, LeaseRow> {
  return view.leases.get(meter)!;
}
