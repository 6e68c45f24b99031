import { sql } from 'kysely';
import type { OpenDatabase } from '#database/index.ts';
import { databaseNow } from './database-clock.repository.ts';

/** Meters whose rows are locked at once. */
const pageSize = 500;

/** Records a life with nothing leased. Returns the generation it begins in. */
export async function beginLife(
  { kysely }: Pick<OpenDatabase, 'kysely'>,
  life: string,
  node: string,
): Promise<number> {
  const { rows } = await sql<{ generation: number }>`
    insert into lives (id, node, number, generation, seen_at, closed)
    select ${life}, ${node}, 0, number, ${databaseNow}, 0 from lease_generation
    on conflict (id) do update set seen_at = excluded.seen_at
    returning generation`.execute(kysely);
  return rows[0]!.generation;
}

/** A life that was closed because it was silent for too long, and what its leases had left in nano-USD. */
export interface Freed {
  readonly life: string;
  readonly node: string;
  readonly amount: bigint;
}

/** Closes lives that are known to have ended, after their records were applied, and gives back their leases. */
export async function closeLives(
  database: Pick<OpenDatabase, 'kysely'>,
  lives: readonly string[],
): Promise<void> {
  if (lives.length === 0) return;
  const { kysely } = database;
  await kysely.updateTable('lives').set({ closed: 1 }).where('id', 'in', lives).execute();
  for (const life of lives) await release(database, life);
}

/** Closes every life without a sign for `ageMs`, and gives back the leases of all closed lives. */
export async function freeSilentLives(
  database: Pick<OpenDatabase, 'kysely'>,
  ageMs: number,
): Promise<Freed[]> {
  const { kysely } = database;
  const { rows: closed } = await sql<{ id: string; node: string }>`
    update lives set closed = 1
    where closed = 0 and seen_at < ${databaseNow} - ${ageMs}::bigint
    returning id, node`.execute(kysely);
  const freed: Freed[] = [];
  for (const { id, node } of closed) {
    freed.push({ life: id, node, amount: await release(database, id) });
  }
  const { rows: left } = await sql<{ life: string }>`
    select distinct life from leases join lives on lives.id = life and closed = 1`.execute(kysely);
  for (const { life } of left) await release(database, life);
  return freed;
}

/** Gives back what the leases of a closed life have left. Idempotent, in any number of processes. */
async function release({ kysely }: Pick<OpenDatabase, 'kysely'>, life: string): Promise<bigint> {
  let total = 0n;
  for (;;) {
    const page = await kysely
      .selectFrom('leases')
      .select('meter')
      .where('life', '=', life)
      .orderBy('meter')
      .limit(pageSize)
      .execute();
    if (page.length === 0) return total;
    const meters = page.map(({ meter }) => meter);
    total += await kysely.transaction().execute(async (trx) => {
      await trx
        .selectFrom('spent_totals')
        .select('meter')
        .where('meter', 'in', meters)
        .orderBy(sql`meter collate "C"`)
        .forUpdate()
        .execute();
      const gone = await trx
        .deleteFrom('leases')
        .where('life', '=', life)
        .where('meter', 'in', meters)
        .returning(['meter', sql<bigint>`drawn - settled`.as('amount')])
        .execute();
      const rows = gone.map(({ meter, amount }) => ({ meter, amount: String(amount) }));
      await sql`
        update spent_totals set leased = leased - gone.amount, version = version + 1,
          short_life = nullif(short_life, ${life}::text),
          short_id = case when short_life = ${life}::text then null else short_id end
        from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as gone (meter text, amount bigint)
        where spent_totals.meter = gone.meter`.execute(trx);
      return gone.reduce((sum, { amount }) => sum + amount, 0n);
    });
  }
}
