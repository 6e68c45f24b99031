import type { WindowClock } from '#ledger/index.ts';

/** A user as admission needs it; all keys of the user share one object. Amounts are nano-USD. */
export interface CallerUser {
  readonly id: string;
  /** The sum of all credits: the limit of the balance. */
  readonly funding: bigint;
  /** The most that may ever be spent; null: no limit. */
  readonly quota: bigint | null;
}

/** A team as admission needs it; all keys that act for it share one object. Null: no limit. */
export interface CallerTeam extends WindowClock {
  readonly id: string;
  readonly name: string;
  /** False: its keys get no responses. */
  readonly enabled: boolean;
  readonly funding: bigint;
  readonly rpm: number | null;
  readonly dailyBudget: bigint | null;
  readonly monthlyBudget: bigint | null;
  readonly totalBudget: bigint | null;
  /** What it may spend without a lease while the database is unreachable; null: what every payer may. */
  readonly unleasedMost: bigint | null;
}

/** The caller of a request: the key and everything about it that a request needs, held in memory by every node. */
export interface Caller {
  readonly keyId: string;
  readonly keyName: string;
  readonly userId: string;
  readonly teamId: string | null;
  readonly user: CallerUser;
  /** The team that the key acts for and that pays; null: the user pays. */
  readonly team: CallerTeam | null;
  /** The most that the user may spend of the team's money; null: no limit, or no team. */
  readonly memberBudget: bigint | null;
  readonly group: string;
  /** Allowlist of model names as clients write them; null: every model of the group. */
  readonly models: ReadonlySet<string> | null;
  /** CIDRs or addresses; empty: any. */
  readonly ips: readonly string[];
  /** Unix milliseconds; null: never. */
  readonly expiresAt: number | null;
  /** The most that the key may spend; null: no limit. */
  readonly quota: bigint | null;
  readonly rpm: number | null;
  readonly rph: number | null;
  readonly maxConcurrency: number | null;
  readonly conversion: 'lenient' | 'strict';
  /** Whether its requests get a lower output limit if little money is left. */
  readonly capOutput: boolean;
  /** False if the key is disabled or revoked, its user or team is disabled, or the user is not a member of the team. */
  readonly enabled: boolean;
}

/** Resolves a presented secret to its caller. */
export interface KeyDirectory {
  /**
   * The caller with this secret; null if no key has it. Returns at once from memory. Only an unknown secret is looked
   * up in the database (once per 10 s), which returns a promise.
   * @throws GatewayError `unavailable` if a look-up is needed and the database is unreachable.
   */
  find(secret: string): Caller | null | Promise<Caller | null>;
}

/** Whether the key is usable at this time (Unix milliseconds): enabled and not expired. */
export function isUsable(
  { enabled, expiresAt }: Pick<Caller, 'enabled' | 'expiresAt'>,
  now: number,
): boolean {
  return enabled && (expiresAt === null || now < expiresAt);
}

/** The owner of something that outlives a request: `team:<id>` or `user:<id>`. */
export type Owner = `team:${string}` | `user:${string}`;

/**
 * The team that the key acts for, otherwise its user. A rotated or second key of the same owner shares what the first
 * one left; nobody else does.
 */
export function ownerOf({ teamId, userId }: Pick<Caller, 'teamId' | 'userId'>): Owner {
  return teamId === null ? `user:${userId}` : `team:${teamId}`;
}
