import type { UsageTable } from '#database/index.ts';
import type { HolderAccount } from './accounts.ts';

/** Whom a charge falls on: all that decides where it counts. */
export interface Charged {
  /** Who pays. */
  readonly account: HolderAccount;
  readonly keyId: string;
  readonly userId: string;
  /** The date of admission in the team's time zone, `2026-11-21`; null when a user pays. */
  readonly window: string | null;
}

/**
 * Every meter that a charge counts on (see `limits/counters.ts`), the balance first. Whether anything is limited on
 * it does not matter: what is limited later has been counted before.
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

/** What of a usage row says whom its charge falls on. */
export const chargedColumns = [
  'payer',
  'key_id',
  'user_id',
  'team_id',
  'budget_window',
] as const satisfies readonly (keyof UsageTable)[];

export type ChargedRow = Pick<UsageTable, (typeof chargedColumns)[number]>;

/** Null when a row does not say it, or contradicts itself. */
export function chargedOf(row: ChargedRow): Charged | null {
  const { payer, key_id: keyId, user_id: userId, team_id: teamId, budget_window: window } = row;
  if (payer === 'user' && window === null) {
    return { account: `user:${userId}`, keyId, userId, window };
  }
  const isTeam = payer === 'team' && teamId !== null && window !== null;
  return isTeam && date.test(window) ? { account: `team:${teamId}`, keyId, userId, window } : null;
}

const date = /^\d{4}-\d\d-\d\d$/;
