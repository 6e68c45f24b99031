import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addColumns, createTable, type ColumnTypes } from './column-types.ts';

/** Beginnings of user agents, in lower case, and their family, as they were known when this step was made. */
const families: readonly (readonly [beginning: string, family: string])[] = [
  ['claude-cli/', 'claude-code'],
  ['claude-code/', 'claude-code'],
  ['codex', 'codex'],
  ['geminicli/', 'gemini-cli'],
  ['qwencode/', 'qwen-code'],
  ['opencode/', 'opencode'],
  ['cline/', 'cline'],
  ['continue/', 'continue'],
  ['cursor', 'cursor'],
  ['open-webui', 'open-webui'],
  ['openai/js', 'openai-js'],
  ['openai/python', 'openai-python'],
  ['asyncopenai/python', 'openai-python'],
  ['anthropic/js', 'anthropic-js'],
  ['anthropic/python', 'anthropic-python'],
  ['asyncanthropic/python', 'anthropic-python'],
  ['google-genai-sdk', 'google-genai'],
  ['curl/', 'curl'],
  ['node', 'node'],
  ['python', 'python'],
];

const sums = [
  ['requests', 'failed', 'refused', 'input_tokens', 'output_tokens', 'cache_read_tokens'],
  ['cache_write_tokens', 'cache_write_1h_tokens', 'reasoning_tokens', 'images', 'video_ms'],
  ['video_tokens', 'cost', 'unbilled_tokens'],
].flat();

/**
 * What makes reading fast while many rows are there: the family of a row's client in a column; an index in which most
 * filters find what they need; one of the few rows that did not go well; sums without persons and by the day; how long
 * requests took; and how many there were of each kind. Existing rows are included.
 */
export function reading(types: ColumnTypes): Migration {
  const { text, integer } = types;
  return {
    async up(db: Kysely<unknown>) {
      await addClient(db, types);
      await sql`drop index usage_by_time`.execute(db);
      // In the order in which lists are shown, and with what else they are filtered and counted by.
      await db.schema
        .createIndex('usage_by_time')
        .on('usage')
        .columns(['time', 'id', 'outcome', 'status', 'client', 'protocol', 'operation'])
        .columns(['duration_ms', 'cost', 'count'])
        .execute();
      await db.schema
        .createIndex('usage_unsuccessful')
        .on('usage')
        .columns(['time', 'id', 'outcome', 'status', 'count'])
        .where('outcome', '<>', sql.lit('completed'))
        .execute();
      await addRefused(db, types);

      let daily = addColumns(createTable(db, 'usage_daily', types), integer, ['day']);
      daily = addColumns(daily, text, ['key_id', 'user_id', 'team_id', 'model', 'channel']);
      await addColumns(daily, integer, sums)
        .addPrimaryKeyConstraint('usage_daily_pk', [
          'day',
          'key_id',
          'model',
          'channel',
          'user_id',
          'team_id',
        ])
        .execute();
      let models = addColumns(createTable(db, 'usage_hourly_models', types), integer, ['hour']);
      models = addColumns(models, text, ['model', 'channel']);
      await addColumns(models, integer, sums)
        .addPrimaryKeyConstraint('usage_hourly_models_pk', ['hour', 'model', 'channel'])
        .execute();
      for (const [name, time] of [
        ['latency_hourly', 'hour'],
        ['latency_daily', 'day'],
      ] as const) {
        let latency = addColumns(createTable(db, name, types), integer, [time]);
        latency = addColumns(latency, text, ['model', 'channel', 'measure']);
        await addColumns(latency, integer, ['bucket', 'requests'])
          .addPrimaryKeyConstraint(`${name}_pk`, [time, 'model', 'channel', 'measure', 'bucket'])
          .execute();
      }
      let kinds = addColumns(createTable(db, 'usage_kinds', types), integer, ['hour', 'status']);
      kinds = addColumns(kinds, text, ['client', 'protocol', 'operation', 'outcome']);
      await addColumns(kinds, integer, ['requests', 'cost'])
        .addPrimaryKeyConstraint('usage_kinds_pk', [
          'hour',
          'client',
          'protocol',
          'operation',
          'outcome',
          'status',
        ])
        .execute();
      await fill(db);
    },
  };
}

async function addClient(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  await db.schema
    .alterTable('usage')
    .addColumn('client', text, (column) => column.notNull().defaultTo('other'))
    .execute();
  const family = sql.join(
    families.map(
      ([beginning, name]) =>
        sql`when substr(lower(user_agent), 1, ${sql.lit(beginning.length)}) = ${sql.lit(beginning)}
          then ${sql.lit(name)}`,
    ),
    sql` `,
  );
  await sql`
    update usage set client = case ${family} else 'other' end
    where user_agent is not null and case ${family} else 'other' end <> 'other'`.execute(db);
}

async function addRefused(db: Kysely<unknown>, { integer }: ColumnTypes): Promise<void> {
  await db.schema
    .alterTable('usage_hourly')
    .addColumn('refused', integer, (column) => column.notNull().defaultTo(0))
    .execute();
  // Of hours whose rows have been removed, nobody knows.
  await sql`
    update usage_hourly set refused = found.refused
    from (
      select time - time % 3600000 as hour, key_id, user_id, coalesce(team_id, '') as team_id,
        case when attempts = '[]' then '' else model end as model,
        coalesce(channel, '') as channel, sum(count) as refused
      from usage where outcome = 'refused' group by 1, 2, 3, 4, 5, 6
    ) as found
    where usage_hourly.hour = found.hour and usage_hourly.key_id = found.key_id
      and usage_hourly.user_id = found.user_id and usage_hourly.team_id = found.team_id
      and usage_hourly.model = found.model and usage_hourly.channel = found.channel`.execute(db);
}

async function fill(db: Kysely<unknown>): Promise<void> {
  const names = sql.join(sums.map((name) => sql.ref(name)));
  const added = sql.join(sums.map((name) => sql`sum(${sql.ref(name)})`));
  await sql`
    insert into usage_daily (day, key_id, user_id, team_id, model, channel, ${names})
    select hour - hour % 86400000, key_id, user_id, team_id, model, channel, ${added}
    from usage_hourly group by 1, 2, 3, 4, 5, 6`.execute(db);
  await sql`
    insert into usage_hourly_models (hour, model, channel, ${names})
    select hour, model, channel, ${added} from usage_hourly group by 1, 2, 3`.execute(db);
  for (const [measure, column] of [
    ['first_token', 'ttft_ms'],
    ['duration', 'duration_ms'],
  ] as const) {
    const value = sql.ref(column);
    await sql`
      insert into latency_hourly (hour, model, channel, measure, bucket, requests)
      select time - time % 3600000, model, coalesce(channel, ''), ${sql.lit(measure)},
        case when ${value} <= 1 then 0 else cast(floor(ln(${value}) / ln(1.1)) as integer) end,
        sum(count)
      from usage where outcome = 'completed' and ${value} is not null
      group by 1, 2, 3, 5`.execute(db);
  }
  await sql`
    insert into latency_daily (day, model, channel, measure, bucket, requests)
    select hour - hour % 86400000, model, channel, measure, bucket, sum(requests)
    from latency_hourly group by 1, 2, 3, 4, 5`.execute(db);
  await sql`
    insert into usage_kinds (hour, client, protocol, operation, outcome, status, requests, cost)
    select time - time % 3600000, client, protocol, operation, outcome, status, sum(count),
      coalesce(sum(cost), 0)
    from usage group by 1, 2, 3, 4, 5, 6`.execute(db);
}
