import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addColumns, createIndexes, createTable, type ColumnTypes } from './column-types.ts';

const dimensions = ['key_id', 'user_id', 'team_id', 'model', 'channel'] as const;
const tokens = [
  ['input_tokens', 'cache_read_tokens', 'cache_write_tokens'],
  ['cache_write_1h_tokens', 'output_tokens', 'reasoning_tokens'],
].flat();
const units = ['images', 'video_ms', 'video_tokens'];
const sums = ['requests', 'failed', 'refused', ...tokens, ...units, 'cost', 'unbilled_tokens'];

/**
 * Clients as a dimension of hours, and all sums of each kind of requests. The sums of hours move to the clients of their
 * rows; what has no rows any more stays with `other`, and its kinds have requests and costs only.
 */
export function hourlyClients(
  types: ColumnTypes & { readonly dialect: 'sqlite' | 'postgres' },
): Migration {
  const { text, integer } = types;
  const json = jsonOf[types.dialect];
  return {
    async up(db: Kysely<unknown>) {
      // SQLite cannot change a primary key.
      await db.schema.alterTable('usage_hourly').renameTo('usage_hourly_before').execute();
      let table = addColumns(createTable(db, 'usage_hourly', types), integer, ['hour']);
      table = addColumns(table, text, [...dimensions, 'client']);
      await addColumns(table, integer, sums)
        .addPrimaryKeyConstraint('usage_hourly_with_client_pk', [
          'key_id',
          'hour',
          'model',
          'channel',
          'client',
          'user_id',
          'team_id',
        ])
        .execute();
      await sql`
        insert into usage_hourly (hour, ${refs(dimensions)}, client, ${refs(sums)})
        select hour, ${refs(dimensions)}, client, ${added(sums)} from (
          select hour, ${refs(dimensions)}, 'other' as client, ${refs(sums)} from usage_hourly_before
          union all
          select hour, ${refs(dimensions)}, client, ${refs(sums)} from ${rowsOf(json)} as gained
          union all
          select hour, ${refs(dimensions)}, 'other',
            ${sql.join(sums.map((name) => sql`-${sql.ref(name)}`))} from ${rowsOf(json)} as lost
        ) as moved
        group by hour, ${refs(dimensions)}, client
        having ${sql.join(
          sums.map((name) => sql`sum(${sql.ref(name)}) <> 0`),
          sql` or `,
        )}`.execute(db);
      await db.schema.dropTable('usage_hourly_before').execute();
      await createIndexes(db, 'usage_hourly', [['hour'], ['user_id', 'hour']]);
      await db.schema
        .createIndex('usage_hourly_by_team_id_hour')
        .on('usage_hourly')
        .columns(['team_id', 'hour'])
        .where('team_id', '<>', sql.lit(''))
        .execute();
      await addKindSums(db, types);
    },
  };
}

type Json = (typeof jsonOf)['sqlite' | 'postgres'];

/** The sums of those rows whose client is known, with the tokens of their failed attempts. */
function rowsOf({ unit, each, text, used }: Json) {
  const counts = [
    sql`${sql.ref('count')}`,
    sql`case when outcome in ('failed', 'refused') then ${sql.ref('count')} else 0 end`,
    sql`case when outcome = 'refused' then ${sql.ref('count')} else 0 end`,
    ...tokens.map((name) => sql.ref(name)),
    ...units.map(unit),
    sql`coalesce(cost, 0)`,
    sql`0`,
  ];
  const named = sums.map((name, at) => sql`${counts[at]} as ${sql.ref(name)}`);
  return sql`(
    select time - time % 3600000 as hour, key_id, user_id, coalesce(team_id, '') as team_id,
      case when attempts = '[]' then '' else model end as model,
      coalesce(channel, '') as channel, client, ${sql.join(named)}
    from usage where client <> 'other'
    union all
    select time - time % 3600000, key_id, user_id, coalesce(team_id, ''), model, ${text('channel')},
      client, ${sql.join(sums.slice(0, -1).map(() => sql`0`))}, ${used}
    from usage, ${each}
    where client <> 'other' and attempts like '%"usage"%' and ${text('usage')} is not null
  )`;
}

async function addKindSums(
  db: Kysely<unknown>,
  types: ColumnTypes & { readonly dialect: 'sqlite' | 'postgres' },
): Promise<void> {
  const { unit, each, text, used } = jsonOf[types.dialect];
  const found = sums.filter((name) => name !== 'requests' && name !== 'cost');
  for (const name of found) {
    await db.schema
      .alterTable('usage_kinds')
      .addColumn(name, types.integer, (column) => column.notNull().defaultTo(0))
      .execute();
  }
  await sql`update usage_kinds set failed = requests where outcome in ('failed', 'refused')`.execute(
    db,
  );
  await sql`update usage_kinds set refused = requests where outcome = 'refused'`.execute(db);
  const kind = ['client', 'protocol', 'operation', 'outcome', 'status'];
  const same = sql.join(
    ['hour', ...kind].map((name) => sql`usage_kinds.${sql.ref(name)} = found.${sql.ref(name)}`),
    sql` and `,
  );
  await sql`
    update usage_kinds set
      ${sql.join([...tokens, ...units].map((name) => sql`${sql.ref(name)} = found.${sql.ref(name)}`))}
    from (
      select time - time % 3600000 as hour, ${refs(kind)},
        ${sql.join([
          ...tokens.map((name) => sql`sum(${sql.ref(name)}) as ${sql.ref(name)}`),
          ...units.map((name) => sql`sum(${unit(name)}) as ${sql.ref(name)}`),
        ])}
      from usage group by 1, 2, 3, 4, 5, 6
    ) as found where ${same}`.execute(db);
  await sql`
    update usage_kinds set unbilled_tokens = found.unbilled_tokens from (
      select time - time % 3600000 as hour, ${refs(kind)}, sum(${used}) as unbilled_tokens
      from usage, ${each} where attempts like '%"usage"%' and ${text('usage')} is not null
      group by 1, 2, 3, 4, 5, 6
    ) as found where ${same}`.execute(db);
}

function refs(names: readonly string[]) {
  return sql.join(names.map((name) => sql.ref(name)));
}

function added(names: readonly string[]) {
  return sql.join(names.map((name) => sql`sum(${sql.ref(name)})`));
}

/** What an attempt used; reasoning is part of the output. */
const parts = ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'output'];

/** The units of a row, and its attempts one by one. */
const jsonOf = {
  sqlite: {
    unit: (name: string) => sql`coalesce(units ->> ${sql.lit(`$.${name}`)}, 0)`,
    each: sql`json_each(attempts) as attempt`,
    text: (name: string) => sql`attempt.value ->> ${sql.lit(name)}`,
    used: sql.join(
      parts.map((name) => sql`coalesce(attempt.value ->> ${sql.lit(`$.usage.${name}`)}, 0)`),
      sql` + `,
    ),
  },
  postgres: {
    unit: (name: string) => sql`coalesce((units::jsonb ->> ${sql.lit(name)})::bigint, 0)`,
    each: sql`jsonb_array_elements(attempts::jsonb) as attempt`,
    text: (name: string) => sql`attempt ->> ${sql.lit(name)}`,
    used: sql.join(
      parts.map((name) => sql`coalesce((attempt -> 'usage' ->> ${sql.lit(name)})::bigint, 0)`),
      sql` + `,
    ),
  },
} as const;
