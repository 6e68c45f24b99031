import { sql } from 'kysely';

/** What people see as the name of a key that belongs to somebody's session in the console. */
export const sessionKeyName = 'playground';

/** The name of a joined row of `keys` as people see it; null without a row. */
export const shownKeyName = sql<
  string | null
>`case when keys.session_id is null then keys.name else ${sql.lit(sessionKeyName)} end`;
