import type { WindowClock } from '#ledger/index.ts';

/** A user as admission needs it; one object for all keys of the user. Amounts are nano-USD. */
export interface CallerUser {
  readonly id: string;
  /** All that was ever credited: the limit of the balance. */
  readonly funding: bigint;
  /** What may be spent in all; null = no limit. */
  readonly quota: bigint | null;
}

/** A team as admission needs it; one object for all keys that act for it. Null = no limit. */
export interface CallerTeam extends WindowClock {
  readonly id: string;
  readonly name: string;
  readonly funding: bigint;
  readonly rpm: number | null;
  readonly dailyBudget: bigint | null;
  readonly monthlyBudget: bigint | null;
  readonly totalBudget: bigint | null;
}

/** Who is calling: the key and everything about it that a request needs, held in memory by every node. */
export interface Caller {
  readonly keyId: string;
  readonly keyName: string;
  readonly userId: string;
  readonly teamId: string | null;
  readonly user: CallerUser;
  /** Whom the key acts for and who then pays; null = the user. */
  readonly team: CallerTeam | null;
  /** What the user may spend of the team's money in all; null = no limit, or no team. */
  readonly memberBudget: bigint | null;
  readonly group: string;
  /** Allowlist of model names as clients write them; null = every model of the group. */
  readonly models: ReadonlySet<string> | null;
  /** CIDRs or addresses; empty = any. */
  readonly ips: readonly string[];
  /** Unix milliseconds; null = never. */
  readonly expiresAt: number | null;
  /** What the key may spend in all; null = no limit. */
  readonly quota: bigint | null;
  readonly rpm: number | null;
  readonly rph: number | null;
  readonly maxConcurrency: number | null;
  readonly conversion: 'lenient' | 'strict';
  /** False when the key is disabled or revoked, its user or team is disabled, or the user is no member of the team. */
  readonly enabled: boolean;
}

/** Turns a presented secret into a caller. */
export interface KeyDirectory {
  /**
   * The caller of a secret, or null when no key has it. Answers from memory and returns at once; only a secret
   * never seen before is looked up in the database (once per 10 s), which gives the promise.
   * @throws GatewayError `unavailable` when the look-up is needed and the database is away.
   */
  find(secret: string): Caller | null | Promise<Caller | null>;
}
