import { sql } from 'kysely';
import { migrate, openDatabase, type OpenDatabase } from '#database/index.ts';
import type { Dialect } from '../database/databases.ts';

const day = 86_400_000;

/**
 * Fills an empty database with usage rows of 90 days and 500 keys, and with their sums.
 * @param newest when the last row was made, in ms
 */
export async function makeManyRows(
  dialect: Dialect,
  url: string,
  count: number,
  newest: number,
): Promise<void> {
  const database = openDatabase({ url, statementTimeout: 0 });
  await migrate(database);
  await fill(database, count, newest);
  await sumUp(database);
  if (dialect === 'postgres') await sql`vacuum analyze`.execute(database.kysely);
  await database.close();
}

/** Names are skewed as they are in life: few models and channels, and most keys use one or two. */
async function fill({ kysely, dialect }: OpenDatabase, count: number, newest: number) {
  const numbers =
    dialect === 'sqlite'
      ? sql`(with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < ${count - 1}) select n from numbers) as numbers`
      : sql`generate_series(0, ${count - 1}::bigint) as numbers(n)`;
  const text = (value: ReturnType<typeof sql>) =>
    dialect === 'sqlite' ? sql`cast(${value} as text)` : sql`(${value})::text`;
  const key = sql`(n * 7919 % 500)`;
  // Each key has a usual model, and another one for every fifth request.
  const model = sql`((n * 7919 % 500 + case when n % 5 = 0 then n % 3 else 0 end) % 12)`;
  await sql`
    insert into usage (id, time, stream, status, duration_ms, ttft_ms, input_tokens,
      cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens,
      cost, key_id, user_id, team_id, group_name, model, upstream_model, channel, protocol,
      operation, outcome, error, attempts, usage_source, receipt, rewrites, losses, user_agent, client, count)
    select 'req_' || n, ${newest} - cast(n * (90.0 * ${sql.lit(day)} / ${sql.lit(count)}) as bigint), 1,
      case when n % 100 = 7 then 429 when n % 150 = 11 then 502 else 200 end,
      200 + (n * 104729 % 30000), 100 + (n * 7907 % 3000), 900 + n % 4000, n % 9000, 0, 0,
      n % 900, 0, 1000 + n * 31 % 900000,
      'key_' || ${text(key)}, 'usr_' || ${text(sql`(n * 7919 % 500) / 5`)},
      case when n * 7919 % 500 < 300 then 'team_' || ${text(sql`(n * 7919 % 500) / 50`)} end,
      'default', 'model-' || ${text(model)}, 'model-' || ${text(model)},
      'channel-' || ${text(sql`(n * 7919 % 500) % 4 + 4 * (n % 2)`)}, 'chat', 'generate',
      case when n % 100 = 7 then 'refused' when n % 150 = 11 then 'failed' else 'completed' end,
      null,
      '[{"channel":"channel-1","class":"shown","status":200,"result":"completed","startedAt":1,"durationMs":2,"upstreamRequestId":"req_0123456789abcdef"}]',
      'reported',
      '[{"part":"input","quantity":900,"rate":"1250000"},{"part":"output","quantity":90,"rate":"10000000"}]',
      '[]', '[]',
      case n % 3 when 0 then 'claude-cli/2.0.1 (external, cli)' when 1 then 'OpenAI/Python 2.1.0' else 'curl/8.5' end,
      case n % 3 when 0 then 'claude-code' when 1 then 'openai-python' else 'curl' end, 1
    from ${numbers}`.execute(kysely);
}

const sums = [
  ['requests', 'failed', 'refused', 'input_tokens', 'output_tokens', 'cache_read_tokens'],
  ['cache_write_tokens', 'cache_write_1h_tokens', 'reasoning_tokens', 'images', 'video_ms'],
  ['video_tokens', 'cost', 'unbilled_tokens', 'attempts', 'failed_attempts'],
].flat();

/** The sums that the gateway keeps beside the rows. */
async function sumUp({ kysely }: OpenDatabase): Promise<void> {
  const names = sql.join(sums.map((name) => sql.ref(name)));
  const added = sql.join(sums.map((name) => sql`sum(${sql.ref(name)})`));
  const counted = sql`count(*),
    sum(case when outcome <> 'completed' then 1 else 0 end),
    sum(case when outcome = 'refused' then 1 else 0 end), sum(input_tokens), sum(output_tokens),
    sum(cache_read_tokens), 0, 0, 0, 0, 0, 0, sum(cost), 0, count(*), 0`;
  await sql`
    insert into usage_hourly (hour, key_id, user_id, team_id, model, channel, client, ${names})
    select time - time % 3600000, key_id, user_id, coalesce(team_id, ''), model, channel, client, ${counted}
    from usage group by 1, 2, 3, 4, 5, 6, 7`.execute(kysely);
  await sql`
    insert into usage_daily (day, key_id, user_id, team_id, model, channel, ${names})
    select hour - hour % 86400000, key_id, user_id, team_id, model, channel, ${added}
    from usage_hourly group by 1, 2, 3, 4, 5, 6`.execute(kysely);
  await sql`
    insert into usage_hourly_models (hour, model, channel, ${names})
    select hour, model, channel, ${added} from usage_hourly group by 1, 2, 3`.execute(kysely);
  // A channel fails now and then, and another one answers instead.
  await sql`
    insert into attempts_hourly (hour, channel, model, outcome, error, attempts, duration_ms,
      first_tokens, first_token_ms, last_at)
    select hour, channel, model, 'answered', '', requests, requests * 900, requests, requests * 300,
      hour + 3000000
    from usage_hourly_models where channel is not null`.execute(kysely);
  await sql`
    insert into attempts_hourly (hour, channel, model, outcome, error, attempts, duration_ms,
      first_tokens, first_token_ms, last_at)
    select time - time % 3600000, 'failing', model, 'failed', 'overloaded', count(*), 50, 0, 0, max(time)
    from usage where status = 502 group by 1, 3`.execute(kysely);
  await sql`
    insert into usage_errors (id, attempt, time, channel, error, blame, status, text)
    select id, 1, time, 'failing', 'overloaded', 'channel', 529, 'overloaded_error: Overloaded'
    from usage where status = 502`.execute(kysely);
  for (const [measure, column] of [
    ['first_token', 'ttft_ms'],
    ['duration', 'duration_ms'],
  ] as const) {
    await sql`
      insert into latency_hourly (hour, model, channel, measure, bucket, requests)
      select time - time % 3600000, model, channel, ${sql.lit(measure)},
        cast(floor(ln(${sql.ref(column)}) / ln(1.1)) as integer), count(*)
      from usage where outcome = 'completed' group by 1, 2, 3, 5`.execute(kysely);
  }
  await sql`
    insert into latency_daily (day, model, channel, measure, bucket, requests)
    select hour - hour % 86400000, model, channel, measure, bucket, sum(requests)
    from latency_hourly group by 1, 2, 3, 4, 5`.execute(kysely);
  await sql`
    insert into usage_kinds (hour, client, protocol, operation, outcome, status, ${names})
    select time - time % 3600000, client, protocol, operation, outcome, status, ${counted}
    from usage group by 1, 2, 3, 4, 5, 6`.execute(kysely);
}
