import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely';
import type { OpenDatabase } from '#database/index.ts';
import { lookRules } from './schedule.ts';

/**
 * Unix milliseconds by the clock of the database, which all nodes share.
 * @param later milliseconds to add
 */
function databaseNow(dialect: OpenDatabase['dialect'], later = 0): RawBuilder<number> {
  return dialect === 'postgres'
    ? sql<number>`((extract(epoch from clock_timestamp()) * 1000)::bigint + ${sql.lit(later)})`
    : sql<number>`(cast(unixepoch('subsec') * 1000 as integer) + ${sql.lit(later)})`;
}

/** How long a lease lasts. */
export const leaseMilliseconds = lookRules.lease;

/** When a lease that begins now ends, in Unix milliseconds. */
export const leaseEnd = (dialect: OpenDatabase['dialect']): RawBuilder<number> =>
  databaseNow(dialect, leaseMilliseconds);

/** Whether a row is not leased. */
export const isFree = (dialect: OpenDatabase['dialect']): Expression<SqlBool> =>
  sql<SqlBool>`(lease_until is null or lease_until < ${databaseNow(dialect)})`;

/** What leases it. @param fence one more than it was */
export const leaseFor = <Fence>(owner: string, dialect: OpenDatabase['dialect'], fence: Fence) => ({
  lease_owner: owner,
  lease_until: leaseEnd(dialect),
  fence,
});
