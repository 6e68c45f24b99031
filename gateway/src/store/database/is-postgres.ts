import { PostgresAdapter, type Kysely } from 'kysely';
import type { Database } from './schema.ts';

/** Which of the two databases this is, or is a transaction of. */
export function isPostgres(db: Kysely<Database>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
