import { sql, type Kysely } from 'kysely';
import type { Database } from '#database/schema.ts';

/** The latest request with a key. */
export interface LastUse {
  /** Unix milliseconds; the beginning of the hour, if the row of the request is no longer kept. */
  readonly time: number;
  /** The family of the client; null: it is no longer kept. */
  readonly client: string | null;
}

/** The latest request of each of these keys, also refused ones. A key that was never used is absent. */
export async function lastUses(
  db: Kysely<Database>,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, LastUse>> {
  if (keyIds.length === 0) return new Map();
  // For each key one look into an index: a group over all requests of these keys would read every one of them.
  const latest = (column: 'time' | 'client') =>
    sql`(select ${sql.ref(column)} from usage where usage.key_id = keys.id order by time desc limit 1)`;
  const { rows } = await sql<{ id: string; time: number | null; client: string | null }>`
    select id, ${latest('client')} as client,
      coalesce(${latest('time')}, (select max(hour) from usage_hourly where key_id = keys.id)) as time
    from keys where id in (${sql.join(keyIds)})`.execute(db);
  return new Map(
    rows.flatMap(({ id, time, client }) => (time === null ? [] : [[id, { time, client }]])),
  );
}

/** The time of the latest request of each of these people, also a refused one. Who never sent one is absent. */
export async function lastRequests(
  db: Kysely<Database>,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (userIds.length === 0) return new Map();
  const { rows } = await sql<{ id: string; time: number | null }>`
    select id, coalesce(
      (select time from usage where usage.user_id = users.id order by time desc limit 1),
      (select max(hour) from usage_hourly where user_id = users.id)
    ) as time
    from users where id in (${sql.join(userIds)})`.execute(db);
  return new Map(rows.flatMap(({ id, time }) => (time === null ? [] : [[id, time]])));
}
