import { sql, type Transaction } from 'kysely';
import type { Database } from '#database/index.ts';
import { isPostgres } from '#database/expressions.ts';
import { databaseNow } from './expressions.repository.ts';

/** The part of a charge that lies in a lease. */
export interface LeasedPart {
  readonly meter: string;
  readonly life: string;
  readonly part: bigint;
}

/**
 * Stands for the life of charges that lay in no lease from the beginning: the database was unreachable, and the operator
 * wanted them to be served.
 */
export const unleasedLife = '';

export const leaseName = (meter: string, life: string): string => `${meter} ${life}`;

/**
 * Takes what is spent out of the leases in which it lay. Call it in the transaction that inserts the usage rows, once
 * for each, after the rows of all their meters were locked.
 *
 * A database that went back may know neither the lease nor the life. Then the lease is below 0 until the life states
 * what it has drawn, or is closed.
 *
 * @returns the names of the leases that do not exist, because their lives were closed or there never was one: these parts
 * are late.
 */
export async function settleLeases(
  trx: Transaction<Database>,
  parts: readonly LeasedPart[],
): Promise<ReadonlySet<string>> {
  // One process on SQLite settles nothing.
  if (parts.length === 0 || !isPostgres(trx)) return new Set();
  const sums = new Map<string, LeasedPart>();
  const unleased: string[] = [];
  for (const one of parts) {
    const name = leaseName(one.meter, one.life);
    if (one.life === unleasedLife) {
      unleased.push(name);
      continue;
    }
    const sum = sums.get(name);
    sums.set(name, sum === undefined ? one : { ...one, part: sum.part + one.part });
  }
  if (sums.size === 0) return new Set(unleased);
  const rows = Array.from(sums.values(), ({ meter, life, part }) => {
    return { meter, life, part: String(part) };
  });
  const partRows = sql`jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
    as given (meter text, life text, part bigint)`;
  await sql`
    insert into lives (id, node, number, generation, seen_at, closed)
    select distinct life, '', 0, 0, ${databaseNow}, 0 from ${partRows}
    where not exists (select from lives where id = life)
    on conflict (id) do nothing`.execute(trx);
  const { rows: late } = await sql<Pick<LeasedPart, 'meter' | 'life'>>`
    with settled as (
      insert into leases (meter, life, drawn, settled, answered)
      select meter, life, 0, part, 0 from ${partRows}
      where exists (select from lives where id = life and closed = 0)
        or exists (select from leases as kept where kept.meter = given.meter and kept.life = given.life)
      order by meter collate "C", life collate "C"
      on conflict (meter, life) do update set settled = leases.settled + excluded.settled
      returning meter, life
    ), taken as (
      update spent_totals set leased = leased - summed.part
      from (
        select given.meter, sum(part) as part from ${partRows}
        join settled on settled.meter = given.meter and settled.life = given.life
        group by given.meter
      ) as summed
      where spent_totals.meter = summed.meter
    )
    select meter, life from ${partRows}
    where not exists (
      select from settled where settled.meter = given.meter and settled.life = given.life
    )`.execute(trx);
  return new Set([...unleased, ...late.map(({ meter, life }) => leaseName(meter, life))]);
}
