/** What a life asks of the authority, in one transaction. A life has one command under way at a time. */
export interface Command {
  readonly life: string;
  /** Greater than that of every earlier command of this life. */
  readonly number: number;
  /** The last command that is known to be done. */
  readonly doneNumber: number;
  readonly generation: number;
  /**
   * `no`: the command before it is done. `touched`: the outcome of the last command is unknown, and this one states anew
   * what that one touched. `all`: the database went back in time, and this one states every lease of the life.
   */
  readonly restates: 'no' | 'touched' | 'all';
  /** With `all`: records that the database lost are still being written again, and nobody draws until they are there. */
  readonly isReplaying: boolean;
  readonly leases: readonly LeaseChange[];
  /** In the order in which they are decided. */
  readonly wants: readonly Want[];
}

export interface LeaseChange {
  readonly meter: string;
  /** For a statement: the amount drawn, whatever the database has. */
  readonly drawn: bigint;
  /**
   * Idle money that goes back. The life has stopped using it. Negative: what charges cost above their holds, which is drawn
   * whatever is left.
   */
  readonly back: bigint;
  /** Money wanted ahead of need. */
  readonly ahead: bigint;
  /** The least that must be left on the meter for anything to be admitted; nothing of it is drawn ahead. */
  readonly floor: bigint;
  /** The last recall after which everything idle has gone back, this command included. */
  readonly answered: number;
  /** Nothing of the lease is left, and the life has forgotten its sums. */
  readonly isDropped: boolean;
  /** The short holds of this life that are in force on the meter; every other mark of this life is removed. */
  readonly shorts: readonly string[];
}

/** A request that waits for money. */
export interface Want {
  readonly id: string;
  readonly amount: bigint;
  /** In order of precedence: the first exhausted meter is the one named. */
  readonly meters: readonly WantedMeter[];
  /** It waits no longer: whoever has not answered by now is not waited for. */
  readonly isLast: boolean;
  /** All of the amount, or a refusal: it is never granted a short hold. */
  readonly isExact: boolean;
}

export interface WantedMeter {
  readonly name: string;
  /** The least that must be left for anything to be admitted. */
  readonly floor: bigint;
  /** As the life knows it. An authority that can read the limit itself does so. */
  readonly limit: bigint;
}

export type Outcome =
  /** `shortOn`: the meters that had less left than the request may cost. */
  | { readonly kind: 'granted'; readonly amount: bigint; readonly shortOn: readonly string[] }
  /** Others may have idle money, or draw first. `isFirst`: the others are asked for this request. */
  | { readonly kind: 'waits'; readonly isFirst: boolean }
  /** Whatever is idle would not change it. `least`: the smallest amount that the meter refuses now. */
  | { readonly kind: 'refused'; readonly meter: string; readonly least: bigint }
  /** A life did not answer in time. */
  | { readonly kind: 'unanswered'; readonly meter: string }
  /** Nothing was decided, because one of its meters was left out: see `left`. */
  | { readonly kind: 'left' };

export type Reply =
  | {
      readonly kind: 'done';
      readonly generation: number;
      readonly leases: ReadonlyMap<string, LeaseReply>;
      readonly outcomes: ReadonlyMap<string, Outcome>;
      /** Meters on which idle money of other lives is called back. */
      readonly recalled: readonly string[];
      /** Meters of the command that it has not touched, since others kept changing them. They are to be named again. */
      readonly left: ReadonlySet<string>;
    }
  /** Nothing was done, for sure. The error concerns these meters; nothing is known of the command's others. */
  | { readonly kind: 'failed'; readonly meters: ReadonlySet<string>; readonly error: Error }
  /** It was done before, or a later command was. */
  | { readonly kind: 'stale'; readonly number: number }
  | { readonly kind: 'closed' }
  /** The database no longer knows what this life has done, or another life noticed that it went back. */
  | { readonly kind: 'went-back' };

export interface LeaseReply {
  readonly drawn: bigint;
  readonly recall: number;
  readonly answered: number;
  /** Everything drawn is settled: the lease may be dropped. */
  readonly isOver: boolean;
  /** More is spent, leased and held than the limit, which was lowered: nothing idle may be used. */
  readonly isBeyond: boolean;
}
