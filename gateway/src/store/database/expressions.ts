import { PostgresAdapter, sql, type Kysely, type RawBuilder } from 'kysely';
import type { Database } from './schema.ts';

/** Which of the two databases this is, or is a transaction of. */
export function isPostgres(db: Kysely<Database>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/**
 * Whether a text contains what is searched for, in capitals or not. Both databases replace a plain text, so nothing in it
 * is a pattern.
 */
export function containing(text: RawBuilder<string>, part: string): RawBuilder<boolean> {
  return sql<boolean>`replace(lower(${text}), lower(${part}), '') <> lower(${text})`;
}

/** What people see as the name of a key that belongs to somebody's session in the console. */
export const sessionKeyName = 'playground';

/** The name of a joined row of `keys` as people see it; null without a row. */
export const shownKeyName = sql<
  string | null
>`case when keys.session_id is null then keys.name else ${sql.lit(sessionKeyName)} end`;
