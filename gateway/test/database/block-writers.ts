import { sql } from 'kysely';
import type { OpenDatabase } from '#database/index.ts';

/** While it is open, nobody else can write to the database, and everybody can read. */
export async function blockWriters({
  kysely,
  dialect,
}: OpenDatabase): Promise<() => Promise<void>> {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const done = kysely.transaction().execute(async (trx) => {
    if (dialect === 'postgres') await sql`lock table usage in exclusive mode`.execute(trx);
    begun.resolve();
    await end.promise;
  });
  await begun.promise;
  return () => {
    end.resolve();
    return done;
  };
}
