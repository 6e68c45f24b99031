import { sql, type Expression, type SqlBool } from 'kysely';
import type { OpenDatabase } from '#database/index.ts';
import { databaseNow } from './database-now.repository.ts';
import { lookRules } from './schedule.ts';

/** Whether nobody has leased a row. */
export const isFree = (dialect: OpenDatabase['dialect']): Expression<SqlBool> =>
  sql<SqlBool>`(lease_until is null or lease_until < ${databaseNow(dialect)})`;

/** What leases it. @param fence one more than it was */
export const leaseFor = <Fence>(owner: string, dialect: OpenDatabase['dialect'], fence: Fence) => ({
  lease_owner: owner,
  lease_until: databaseNow(dialect, lookRules.lease),
  fence,
});
