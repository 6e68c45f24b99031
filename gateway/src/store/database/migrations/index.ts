import type { Migration } from 'kysely/migration';
import { tables } from './0001-tables.ts';
import { attemptTables } from './0002-attempts.ts';

/** All steps in order. Never edit a released step; a change is a new step. */
export function createMigrations(dialect: 'sqlite' | 'postgres'): Record<string, Migration> {
  return { [firstStep]: tables(dialect), '0002-attempts': attemptTables(dialect) };
}

/** What the steps of unreleased versions have become. */
export const firstStep = '0001-tables';

/** The steps that the last version before them had. All of them together made the tables of `firstStep`. */
export const unreleased = Object.freeze({ first: '0001-accounts', last: '0037-usage-unread' });
