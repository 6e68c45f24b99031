import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import { waitForDisk, type Database } from '#database/index.ts';
import type { Command } from './command.ts';
import { databaseNow, limitOf } from './expressions.repository.ts';
import { leasesOn, type LeaseRow, type MeterRow, type View } from './rows.ts';

/*
 * A command reads its meters with everything that decides about them in one statement, and writes in another one, if no
 * meter has changed in between. Nothing is locked while a process computes or waits for its turn: on a busy machine, a
 * lock held over several statements would make every other request for the same meter wait. Only a command that has lost
 * several times locks its meters before it reads: others, who are nearer to the database, would always come first.
 */

export interface ReadView {
  readonly view: View;
  /** By meter: what was read, by which the writing statement notices a change. */
  readonly before: ReadonlyMap<string, Before>;
}

interface Before extends Pick<MeterRow, 'spent' | 'leased'> {
  readonly version: number;
}

/** Amounts are text: a JSON number would be rounded. */
interface Stored {
  readonly meters: readonly StoredMeter[] | null;
  readonly leases:
    | readonly {
        readonly meter: string;
        readonly life: string;
        readonly drawn: string;
        readonly settled: string;
        readonly answered: number;
      }[]
    | null;
  readonly lives:
    | readonly {
        readonly id: string;
        readonly number: number;
        readonly generation: number;
        readonly seen_at: number;
        readonly closed: number;
      }[]
    | null;
  readonly generation: number;
  readonly since: number;
  readonly now: number;
}

interface StoredMeter {
  readonly meter: string;
  readonly version: number;
  readonly spent: string;
  /** Null: no limit. */
  readonly limit: string | null;
  readonly leased: string;
  readonly held: string;
  readonly recall: number;
  readonly ticket_life: string | null;
  readonly ticket_id: string | null;
  readonly ticket_until: number | null;
  readonly short_life: string | null;
  readonly short_id: string | null;
}

/** Locks the rows of the meters until the transaction ends, and rejects with 55P03 if others keep one for too long. */
export async function lockMeters(
  trx: Transaction<Database>,
  meters: readonly string[],
  patienceMs: number,
): Promise<void> {
  await sql`
    select from spent_totals
    where meter = any(${meters}::text[]) and ${waitingAtMost(patienceMs)}
    order by meter collate "C" for update`.execute(trx);
}

/** True. Limits how long the transaction waits for each lock. */
const waitingAtMost = (milliseconds: number) =>
  sql`set_config('lock_timeout', ${sql.lit(String(milliseconds))}, true) is not null`;

/**
 * Reads the meters, and creates the rows that are missing. Such a row need not be on the disk by itself: whatever is written
 * into it is, and a row that a crash lost is created again.
 * @returns the meters whose rows another process creates just now, if there are any
 */
export async function readView(
  db: Kysely<Database>,
  life: string,
  meters: readonly string[],
): Promise<ReadView | ReadonlySet<string>> {
  const rowsOf = (query: RawBuilder<unknown>) =>
    sql`(select json_agg(found) from (${query}) as found)`;
  const { rows } = await sql<Stored>`
    with given as (
      select * from unnest(${meters}::text[]) as given (meter)
    ), found as (
      select spent_totals.* from spent_totals join given using (meter)
    ), created as (
      -- In order of name, as everybody locks them.
      insert into spent_totals (meter, spent)
      select meter, 0 from given
      where not exists (select from found where found.meter = given.meter)
        and set_config('synchronous_commit', 'off', true) is not null
      order by meter collate "C"
      on conflict (meter) do nothing
      returning *
    )
    select
      ${rowsOf(sql`
        select meter, version, spent::text, leased::text, held::text, recall,
          ticket_life, ticket_id, ticket_until, short_life, short_id,
          (${limitOf})::text as limit
        from (select * from found union all select * from created) as spent_totals`)} as meters,
      ${rowsOf(sql`
        select meter, life, drawn::text, settled::text, answered
        from leases where meter = any(${meters}::text[])`)} as leases,
      ${rowsOf(sql`
        select id, number, generation, seen_at, closed
        from lives where closed = 0 or id = ${life}`)} as lives,
      number as generation, since, ${databaseNow} as now
    from lease_generation`.execute(db);
  const storedView = rows[0]!;
  const meterRows = storedView.meters ?? [];
  if (meterRows.length < meters.length) {
    const knownMeters = new Set(meterRows.map(({ meter }) => meter));
    return new Set(meters.filter((meter) => !knownMeters.has(meter)));
  }
  const view: View = {
    meters: new Map(
      meterRows.map((row) => [
        row.meter,
        {
          spent: BigInt(row.spent),
          leased: BigInt(row.leased),
          held: BigInt(row.held),
          recall: row.recall,
          ticket:
            row.ticket_life === null
              ? null
              : { life: row.ticket_life, id: row.ticket_id ?? '', until: row.ticket_until ?? 0 },
          short: row.short_life === null ? null : { life: row.short_life, id: row.short_id ?? '' },
        },
      ]),
    ),
    leases: new Map(meters.map((meter) => [meter, new Map<string, LeaseRow>()])),
    lives: new Map(
      (storedView.lives ?? []).map(({ id, number, generation, seen_at: seenAt, closed }) => [
        id,
        { number, generation, seenAt, closed: closed === 1 },
      ]),
    ),
    limits: new Map(
      meterRows.flatMap(({ meter, limit }) => (limit === null ? [] : [[meter, BigInt(limit)]])),
    ),
    generation: storedView.generation,
    generationAt: storedView.since,
    now: storedView.now,
  };
  for (const { meter, life: of, drawn, settled, answered } of storedView.leases ?? []) {
    leasesOn(view, meter).set(of, { drawn: BigInt(drawn), settled: BigInt(settled), answered });
  }
  const before = new Map(
    meterRows.map(({ meter, version, spent, leased }) => [
      meter,
      { version, spent: BigInt(spent), leased: BigInt(leased) },
    ]),
  );
  return { view, before };
}

export interface Writing extends Pick<ReadView, 'before'> {
  /** Of notifications. */
  readonly contents: readonly string[];
  readonly channel: string;
  readonly isNewGeneration: boolean;
  /** Rows that others have locked count as changed. Otherwise it waits for them, and rejects with 55P03 after a while. */
  readonly skipsLocked: boolean;
}

/** Longer than a command of a node takes that is far from the database. */
const lockPatienceMs = 250;

/**
 * Writes what the command changed, in one statement.
 *
 * Records that arrived since the meters were read do not count as a change, or a busy balance would be read again and
 * again: what they take from the leases is spent, whatever was drawn meanwhile, and it is as if they had arrived after the
 * command. Only where a lease is forgotten, nothing of it may have been settled in between. A task that takes its hold out
 * of a lease counts as a change.
 * @returns the meters that have changed since they were read: if there are any, nothing is written.
 * @throws Error if another command of the life came first, or the life was closed.
 */
export async function writeView(
  db: Kysely<Database>,
  { life, number, restates }: Command,
  view: View,
  { before, contents, channel, isNewGeneration, skipsLocked }: Writing,
): Promise<readonly string[]> {
  const meters = Array.from(view.meters, ([meter, row]) => ({
    meter,
    version: before.get(meter)!.version,
    spent: String(before.get(meter)!.spent),
    more: String(row.leased - before.get(meter)!.leased),
    recall: row.recall,
    ticket_life: row.ticket?.life ?? null,
    ticket_id: row.ticket?.id ?? null,
    ticket_until: row.ticket?.until ?? null,
    short_life: row.short?.life ?? null,
    short_id: row.short?.id ?? null,
  }));
  const leases: unknown[] = [];
  const droppedMeters: string[] = [];
  for (const [meter, of] of view.leases) {
    const lease = of.get(life);
    if (lease === undefined) droppedMeters.push(meter);
    else {
      leases.push({ meter, drawn: String(lease.drawn), answered: lease.answered });
    }
  }
  const { generation } = view.lives.get(life)!;
  const strict = restates === 'all' ? [...before.keys()] : droppedMeters;
  const { rows } = await sql<{ changed: string[] | null }>`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(meters)}::text::jsonb) as given (
        meter text, version bigint, spent bigint, more bigint, recall bigint, ticket_life text,
        ticket_id text, ticket_until bigint, short_life text, short_id text)
    ), locked as materialized (
      select meter, version, spent from spent_totals
      where meter = any(${[...before.keys()]}::text[]) and ${waitingAtMost(lockPatienceMs)}
      order by meter collate "C" for update ${skipsLocked ? sql`skip locked` : sql``}
    ), gate as materialized (
      select array_agg(given.meter) filter (where locked.meter is null) as changed,
        count(*) filter (where locked.meter is null) = 0 as unchanged
      from given left join locked on locked.meter = given.meter and locked.version = given.version
        and (locked.spent = given.spent or given.meter <> all(${strict}::text[]))
    ), changed as (
      update spent_totals as kept set version = kept.version + 1,
        leased = kept.leased + given.more, recall = given.recall,
        ticket_life = given.ticket_life, ticket_id = given.ticket_id, ticket_until = given.ticket_until,
        short_life = given.short_life, short_id = given.short_id
      from given, gate where kept.meter = given.meter and gate.unchanged
    ), dropped as (
      delete from leases using gate
      where gate.unchanged and life = ${life} and meter = any(${droppedMeters}::text[])
    ), leased as (
      insert into leases (meter, life, drawn, settled, answered)
      select meter, ${life}::text, drawn, 0, answered
      from gate, jsonb_to_recordset(${JSON.stringify(leases)}::text::jsonb)
        as given (meter text, drawn bigint, answered bigint)
      where gate.unchanged
      on conflict (meter, life) do update set drawn = excluded.drawn, answered = excluded.answered
    ), generations as (
      update lease_generation set number = ${view.generation}, since = ${view.now}
      from gate where gate.unchanged and ${isNewGeneration}::boolean
    ), living as (
      insert into lives as kept (id, node, number, generation, seen_at, closed)
      select ${life}::text, '', ${number}::bigint, ${generation}::bigint, ${view.now}::bigint, 0
      from gate where gate.unchanged
      on conflict (id) do update set
        number = excluded.number, generation = excluded.generation, seen_at = excluded.seen_at
        where kept.number < excluded.number and kept.closed = 0
      returning id
    )
    select gate.changed,
      -- Nothing of this statement happens if the life is over.
      case when unchanged then 1 / (select count(*) from living) else 1 end as living,
      case when unchanged then (
        select count(pg_notify(${channel}, content)) from unnest(${contents}::text[]) as content
      ) end as notified,
      -- A lease that was granted must survive a crash, or it is granted again.
      ${waitForDisk} as waits
    from gate`.execute(db);
  return rows[0]!.changed ?? [];
}
