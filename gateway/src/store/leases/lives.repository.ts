import { sql } from 'kysely';
import { waitForDisk, type OpenDatabase } from '#database/index.ts';
import { databaseNow } from './expressions.repository.ts';

/** Meters whose rows are locked at once. */
const pageSize = 500;

/** Records a life with nothing leased, which ends after `ageMs` without a sign. Returns the generation it begins in. */
export async function beginLife(
  { kysely }: Pick<OpenDatabase, 'kysely'>,
  life: string,
  node: string,
  ageMs: number,
): Promise<number> {
  const { rows } = await sql<{ generation: number }>`
    insert into lives (id, node, number, generation, seen_at, closed, age)
    select ${life}, ${node}, 0, number, ${databaseNow}, 0, ${ageMs}::bigint from lease_generation
    on conflict (id) do update set seen_at = excluded.seen_at
    returning generation`.execute(kysely);
  return rows[0]!.generation;
}

/** A life that was closed because it was silent for too long. */
export interface Freed {
  readonly life: string;
  readonly node: string;
  /**
   * What its leases of balances had left, in nano-USD. It may have charged as much without a record in the database, and
   * others may spend it again.
   */
  readonly amount: bigint;
}

/**
 * Closes lives that are known to have ended, after their records were applied, and gives back their leases. Nothing of
 * them can be missing any more.
 */
export async function closeLives(
  database: Pick<OpenDatabase, 'kysely'>,
  lives: readonly string[],
): Promise<void> {
  if (lives.length === 0) return;
  const { kysely } = database;
  await kysely
    .updateTable('lives')
    .set({ closed: 1, freed: null })
    .where('id', 'in', lives)
    // A node forgets them after that, also if the database crashes.
    .returning(waitForDisk.as('waits'))
    .execute();
  for (const life of lives) await release(database, life);
}

/** Closes those of the lives that have given no sign for `silentMs`, as if they had ended. Returns the others. */
export async function closeSilentLives(
  database: Pick<OpenDatabase, 'kysely'>,
  lives: readonly string[],
  silentMs: number,
): Promise<string[]> {
  if (lives.length === 0) return [];
  const inUse = await database.kysely
    .selectFrom('lives')
    .select('id')
    .where('id', 'in', lives)
    .where('closed', '=', 0)
    .where('seen_at', '>=', sql<number>`${databaseNow} - ${silentMs}::bigint`)
    .execute();
  const usedIds = new Set(inUse.map(({ id }) => id));
  await closeLives(
    database,
    lives.filter((life) => !usedIds.has(life)),
  );
  return [...usedIds];
}

/** Closes every life that was silent for its age, and gives back the leases of all closed lives. */
export async function freeSilentLives(database: Pick<OpenDatabase, 'kysely'>): Promise<Freed[]> {
  const { kysely } = database;
  const { rows: closedLives } = await sql<{ life: string; node: string; freed: bigint | null }>`
    update lives set closed = 1, freed_at = ${databaseNow}, freed = (
      select sum(drawn - settled) from leases where life = lives.id and meter like '%:balance')
    where closed = 0 and seen_at < ${databaseNow} - age
    returning id as life, node, freed`.execute(kysely);
  const { rows: remainingLives } = await sql<{ life: string }>`
    select distinct life from leases join lives on lives.id = life and closed = 1`.execute(kysely);
  for (const { life } of remainingLives) await release(database, life);
  return closedLives.flatMap(({ life, node, freed: amount }) =>
    amount === null || amount === 0n ? [] : [{ life, node, amount }],
  );
}

/** Lives that were freed with something left, and whose records may still be missing. @param since Unix milliseconds */
export async function freedLives(
  { kysely }: Pick<OpenDatabase, 'kysely'>,
  since: number,
): Promise<Freed[]> {
  const rows = await kysely
    .selectFrom('lives')
    .select(['id', 'node', 'freed'])
    .where('freed', '>', 0n)
    .where('freed_at', '>=', since)
    .orderBy('freed_at')
    .execute();
  return rows.map(({ id, node, freed }) => ({ life: id, node, amount: freed ?? 0n }));
}

/** Gives back what the leases of a closed life have left. Idempotent, in any number of processes. */
async function release({ kysely }: Pick<OpenDatabase, 'kysely'>, life: string): Promise<void> {
  for (;;) {
    const page = await kysely
      .selectFrom('leases')
      .select('meter')
      .where('life', '=', life)
      .orderBy('meter')
      .limit(pageSize)
      .execute();
    if (page.length === 0) return;
    const meters = page.map(({ meter }) => meter);
    await kysely.transaction().execute(async (trx) => {
      await trx
        .selectFrom('spent_totals')
        .select('meter')
        .where('meter', 'in', meters)
        .orderBy(sql`meter collate "C"`)
        .forUpdate()
        .execute();
      const removedLives = await trx
        .deleteFrom('leases')
        .where('life', '=', life)
        .where('meter', 'in', meters)
        .returning(['meter', sql<bigint>`drawn - settled`.as('amount')])
        .execute();
      const rows = removedLives.map(({ meter, amount }) => ({ meter, amount: String(amount) }));
      await sql`
        update spent_totals set leased = leased - gone.amount, version = version + 1,
          short_life = nullif(short_life, ${life}::text),
          short_id = case when short_life = ${life}::text then null else short_id end
        from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as gone (meter text, amount bigint)
        where spent_totals.meter = gone.meter`.execute(trx);
    });
  }
}

/**
 * What requests under way hold on each of these meters, on all nodes, as each node said last; a meter on which nothing is
 * held is absent. Nano-USD. PostgreSQL only: elsewhere a single process knows.
 */
export async function heldByRequests(
  { kysely }: Pick<OpenDatabase, 'kysely'>,
  meters: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  if (meters.length === 0) return new Map();
  const { rows } = await sql<{ meter: string; held: bigint }>`
    select hold.key as meter, sum(hold.value::bigint)::bigint as held
    from lives, jsonb_each_text(lives.holds::jsonb) as hold
    where lives.closed = 0 and lives.holds is not null and hold.key in (${sql.join(meters)})
    group by hold.key`.execute(kysely);
  return new Map(rows.map(({ meter, held }) => [meter, held]));
}
