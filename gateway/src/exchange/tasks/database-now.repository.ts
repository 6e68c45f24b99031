import { sql, type RawBuilder } from 'kysely';
import type { OpenDatabase } from '#database/index.ts';

/**
 * Unix milliseconds by the clock of the database, which all nodes share.
 * @param later milliseconds to add
 */
export function databaseNow(dialect: OpenDatabase['dialect'], later = 0): RawBuilder<number> {
  return dialect === 'postgres'
    ? sql<number>`((extract(epoch from clock_timestamp()) * 1000)::bigint + ${sql.lit(later)})`
    : sql<number>`(cast(unixepoch('subsec') * 1000 as integer) + ${sql.lit(later)})`;
}
