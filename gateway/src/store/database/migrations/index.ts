import type { Migration } from 'kysely/migration';
import { tables } from './0001-tables.ts';
import { attemptTables } from './0003-attempts.ts';
import { invitations } from './0005-invitations.ts';
import { adminKeyTable } from './0006-admin-keys.ts';
import { addColumn } from './add-tables.ts';
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
    // What a team may spend without a lease while the database is unreachable.
    '0002-team-away': addColumn(dialect, 'teams', 'unleased_most', 'integer'),
    '0003-attempts': attemptTables(dialect),
    // When somebody last ended the pauses of a channel: every node reads it with the channel.
    '0004-channel-reset': addColumn(dialect, 'channels', 'reset_at', 'integer'),
    '0005-invitations': invitations(dialect),
    '0006-admin-keys': adminKeyTable(dialect),
    '0007-sign-in': signIn(dialect),
    // How a node is, as it says with each sign of life.
    '0008-node-state': addColumn(dialect, 'nodes', 'state', 'text'),
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
