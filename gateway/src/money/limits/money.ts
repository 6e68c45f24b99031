/**
 * Counts money held and spent. Holds are taken from leases, of the database that several processes share or, in the only
 * process, of its own memory. A hold is on all of its meters or on none.
 *
 * What needs no look into the database is immediate. Callers check with `instanceof Promise`, so that the common case
 * costs no turn of the event loop.
 */
export interface Money {
  /**
   * Reserves money on every meter, or on none. Repeating it with the id of an open hold returns the same decision.
   * @throws GatewayError `unavailable` if the database is needed and unreachable.
   */
  hold(request: HoldRequest): HoldDecision | Promise<HoldDecision>;
  /**
   * Announces that these holds of one request will end with this charge, whose record is about to be written:
   * `commitHold` follows for each. Call it at most once.
   * @param ids the first one bears the charge
   * @param meters all meters of the charge
   * @returns the leases in which the charge lies, for its record; null: in none.
   */
  announceCharge(
    ids: readonly string[],
    meters: readonly string[],
    cost: bigint,
  ): ChargedLease | null;
  /**
   * Ends a hold, also one that has expired: adds the cost to every meter of the hold and frees the rest. 0 releases
   * the hold. Does nothing for an unknown id, so nothing counts twice.
   */
  commitHold(id: string, cost: bigint): void;
  /**
   * Takes an open hold out of the money of this process, right before the transaction that makes it the hold of a task;
   * `taskBegun` follows. A hold that counts nowhere lies in no lease.
   * @param meters all meters of the task
   * @returns the leases in which it lies; null: in none
   * @throws GatewayError `unavailable` if it has expired.
   */
  taskBeginning(id: string, meters: readonly string[]): ChargedLease | null;
  /**
   * What became of that transaction. `unknown`: its connection broke. Then the hold counts until the database is known not to
   * have the task.
   */
  taskBegun(id: string, outcome: 'committed' | 'rolled-back' | 'unknown'): void;
  /** Call it before the transaction that ends a task. @throws GatewayError `unavailable` */
  taskEnding(meters: readonly string[]): Promise<void>;
  /** Call it after that transaction, once. */
  taskEnded(end: TaskEnd): void;
  /** The current state of a meter; null for an unknown one. For `GET /v1/usage` and the console. */
  read(meter: string): MeterState | null | Promise<MeterState | null>;
  /** Whether the database has just failed to lease money: requests that need more than is leased get 503. */
  readonly isAway: boolean;
  /** Whether the last attempt to lease money failed, however long ago. */
  readonly hasFailed: boolean;
  /** What is held and charged without a lease, because the database is or was unreachable. Nano-USD. */
  readonly unleasedAmount: bigint;
  /** Whether some payer's next request can be admitted without the database. */
  readonly hasLeases: boolean;
  close(): Promise<void>;
}

/** What the end of a task changes on each of its meters. Nano-USD. */
export interface TaskEnd {
  readonly meters: readonly string[];
  /** It was held, and is not any more. */
  readonly heldAmount: bigint;
  readonly cost: bigint;
}

/** Where a charge or a hold lies. */
export interface ChargedLease {
  /** The process that leased the money. */
  readonly life: string;
  /** For each meter of the charge: the part that lies in a lease, in decimal digits of nano-USD. */
  readonly parts: readonly string[];
}

/** Amounts are nano-USD. */
export interface HoldRequest {
  /** The id of the exchange; one hold per id. */
  readonly id: string;
  /**
   * The upper bound of the cost. If a meter has less left, the hold takes all that is left, but only one such hold at a
   * time per meter, because each may spend more than it holds. Further requests are refused as if nothing were left.
   */
  readonly amount: bigint;
  /** All of the amount or a refusal: no hold of all that is left. Absent: false. */
  readonly isExact?: boolean;
  /**
   * What the payer may spend without a lease while the database is unreachable, in nano-USD. Null or absent: what every
   * payer may.
   */
  readonly unleasedMost?: bigint | null;
  /** In order of precedence: the first exhausted meter is the one named. */
  readonly meters: readonly Meter[];
  /** Unix milliseconds. An unfinished hold expires then, at most a second later. */
  readonly expiresAt: number;
}

/** A budget to spend from: a balance, a quota, or a budget within one window. */
export interface Meter {
  /**
   * `user:<id>:balance`, `user:<id>:quota`, `key:<id>:quota`, `team:<id>:balance`, `team:<id>:daily:2026-11-21`,
   * `team:<id>:monthly:2026-11`, `team:<id>:total`, `team:<id>:member:<user id>`.
   */
  readonly name: string;
  /**
   * The most that may ever be spent on it; for a balance, the sum of all credits. `unlimited`: spending is only
   * counted.
   */
  readonly limit: bigint;
  /**
   * Nothing is admitted with less than this left: 10_000_000n (0.01 USD) for balances, otherwise 1n. With nothing left
   * nothing is admitted, whatever the floor.
   */
  readonly floor: bigint;
}

/** More than can ever be spent, since amounts have 64 bits. */
export const unlimited = 2n ** 63n - 1n;

export type HoldDecision =
  | { readonly isHeld: true; readonly amount: bigint }
  /** `denied`: the first meter without enough left. */
  | { readonly isHeld: false; readonly denied: string };

export interface MeterState {
  readonly spentAmount: bigint;
  readonly heldAmount: bigint;
}

/**
 * The amounts spent on meters according to the database, from which counting starts. Unknown meters are 0. The result
 * must include everything an earlier process journaled, because nothing else would count it. It need not include
 * settlements of this process: a charge first holds all its meters, which makes them known here.
 */
export type SpentSource = (meters: readonly string[]) => Promise<ReadonlyMap<string, bigint>>;
