import type { UsageTable } from '#database/index.ts';
import type { HolderAccount } from './accounts.ts';

/** Everything that decides which meters a charge counts on. */
export interface Charged {
  /** The payer. */
  readonly account: HolderAccount;
  readonly keyId: string;
  readonly userId: string;
  /** The date of admission in the team's time zone, `2026-11-21`; null when a user pays. */
  readonly window: string | null;
}

/**
 * Every meter that a charge counts on (see `limits/money.ts`), the balance first. Meters without a limit count too,
 * so that a limit set later knows what was already spent.
 */
export function meterNames({ account, keyId, userId, window }: Charged): readonly string[] {
  const ofKey = `key:${keyId}:quota`;
  if (window === null) return [`${account}:balance`, `${account}:quota`, ofKey];
  return [
    `${account}:balance`,
    ofKey,
    `${account}:daily:${window}`,
    `${account}:monthly:${window.slice(0, 7)}`,
    `${account}:total`,
    `${account}:member:${userId}`,
  ];
}

/** The columns of a usage row that determine whom its charge falls on. */
export const chargedColumns = [
  'payer',
  'key_id',
  'user_id',
  'team_id',
  'budget_window',
] as const satisfies readonly (keyof UsageTable)[];

export type ChargedRow = Pick<UsageTable, (typeof chargedColumns)[number]>;

/** Null if the row lacks the information, or contradicts itself. */
export function chargedOf(row: ChargedRow): Charged | null {
  const { payer, key_id: keyId, user_id: userId, team_id: teamId, budget_window: window } = row;
  if (payer === 'user' && window === null) {
    return { account: `user:${userId}`, keyId, userId, window };
  }
  const isTeam = payer === 'team' && teamId !== null && window !== null;
  return isTeam && date.test(window) ? { account: `team:${teamId}`, keyId, userId, window } : null;
}

const date = /^\d{4}-\d\d-\d\d$/;
