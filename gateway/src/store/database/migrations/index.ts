import type { Migration } from 'kysely/migration';
import { tables } from './0001-tables.ts';
import { teamAway } from './0002-team-away.ts';
import { attemptTables } from './0003-attempts.ts';
import { channelReset } from './0004-channel-reset.ts';
import { invitations } from './0005-invitations.ts';
import { signIn } from './0007-sign-in.ts';

/** A change of the tables. Its name begins with its number. */
export interface Step extends Migration {
  /**
   * Programs that do not know this step must not write any more. A step that only adds tables, and columns that may be
   * absent, breaks nothing.
   */
  readonly breaks?: true;
}

/** By name, in order. */
export type Steps = Readonly<Record<string, Step>>;

/** All steps in order. Never edit a released step; a change is a new step. */
export function createMigrations(dialect: 'sqlite' | 'postgres'): Steps {
  return {
    [firstStep]: tables(dialect),
    '0002-team-away': teamAway(dialect),
    '0003-attempts': attemptTables(dialect),
    '0004-channel-reset': channelReset(dialect),
    '0005-invitations': invitations(dialect),
    '0007-sign-in': signIn(dialect),
  };
}

/** What the steps of unreleased versions have become. */
export const firstStep = '0001-tables';

/** The steps that the last version before them had. All of them together made the tables of `firstStep`. */
export const unreleased = Object.freeze({ first: '0001-accounts', last: '0037-usage-unread' });

export const numberOf = (step: string): number => Number.parseInt(step, 10);

/** The number of the last of these steps, by default of this program's own. */
export function lastNumber(steps: Steps = createMigrations('sqlite')): number {
  return Math.max(...Object.keys(steps).map(numberOf));
}
