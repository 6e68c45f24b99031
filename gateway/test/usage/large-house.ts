import { sql } from 'kysely';
import type { OpenDatabase } from '#database/index.ts';

const hour = 3_600_000;

export interface HouseSize {
  readonly users: number;
  readonly keys: number;
  readonly teams: number;
  /** Rows of usage, as many lines of sums by hour, and half as many entries of the ledger. */
  readonly rows: number;
  /** Lines of the audit log. */
  readonly audit: number;
}

/**
 * Fills a migrated database with people, teams, their keys and a past of 90 days. Everybody has about the same part in it.
 * @param newest when the last row was made, in ms
 */
export async function fillHouse(
  { kysely, dialect }: OpenDatabase,
  { users, keys, teams, rows, audit }: HouseSize,
  newest: number,
): Promise<void> {
  const numbers = (count: number) =>
    dialect === 'sqlite'
      ? sql`(with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < ${count - 1}) select n from numbers) as numbers`
      : sql`generate_series(0, ${count - 1}::bigint) as numbers(n)`;
  const named = (prefix: string, value: ReturnType<typeof sql>) =>
    sql`${sql.lit(prefix)} || cast(${value} as text)`;
  const user = sql`(n % ${sql.lit(users)})`;
  const key = sql`(n % ${sql.lit(keys)})`;
  const team = sql`(n % ${sql.lit(teams)})`;
  await kysely.transaction().execute(async (trx) => {
    const run = (statement: ReturnType<typeof sql>) => statement.execute(trx);
    await run(sql`
      insert into users (id, owner, enabled, created_at, updated_at, revision, email, name, role, opening_credit, quota)
      select ${named('usr_', sql`n`)}, 'console', 1, ${newest}, ${newest}, 1,
        ${named('person-', sql`n`)} || '@example.com', ${named('Person ', sql`n`)}, 'member', 100000000000,
        case when n % 2 = 0 then 100000000000 end
      from ${numbers(users)}`);
    await run(sql`
      insert into teams (id, owner, enabled, created_at, updated_at, revision, name, time_zone, opening_credit, budget_monthly)
      select ${named('team_', sql`n`)}, 'console', 1, ${newest}, ${newest}, 1, ${named('team-', sql`n`)}, 'UTC', 0, 100000000000
      from ${numbers(teams)}`);
    await run(sql`
      insert into team_members (team_id, user_id, role, revision)
      select ${named('team_', team)}, ${named('usr_', sql`n`)}, 'member', 1 from ${numbers(users)}`);
    await run(sql`
      insert into keys (id, owner, enabled, created_at, updated_at, revision, name, hash, prefix, group_name, settings, user_id, team_id, quota)
      select ${named('key_', sql`n`)}, 'console', 1, ${newest}, ${newest}, 1, ${named('key-', sql`n`)}, ${named('hash', sql`n`)}, 'sk-x',
        'default', '{}', ${named('usr_', user)}, case when n % 2 = 0 then ${named('team_', team)} end, 100000000000
      from ${numbers(keys)}`);
    await run(sql`
      insert into spent_totals (meter, spent, credited)
      select ${named('user:usr_', sql`n`)} || ':balance', n, 100000000000 from ${numbers(users)}`);
    await run(sql`
      insert into spent_totals (meter, spent)
      select ${named('user:usr_', sql`n`)} || ':quota', n from ${numbers(users)} where n % 2 = 0`);
    await run(sql`
      insert into usage (id, time, stream, status, duration_ms, ttft_ms, input_tokens,
        cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens,
        cost, key_id, user_id, team_id, group_name, model, upstream_model, channel, protocol,
        operation, outcome, error, attempts, usage_source, receipt, rewrites, losses, user_agent, client, count)
      select ${named('req_', sql`n`)}, ${newest} - n * ${sql.lit(Math.floor((90 * 24 * hour) / rows))}, 1, 200, 900, 100, 900, 0, 0, 0,
        90, 0, 1000 + n % 900000, ${named('key_', key)}, ${named('usr_', user)}, ${named('team_', team)}, 'default',
        ${named('model-', sql`(n % 12)`)}, 'm', ${named('channel-', sql`(n % 8)`)}, 'chat', 'generate', 'completed', null,
        '[]', 'reported', '[]', '[]', '[]', 'curl/8.5', 'curl', 1
      from ${numbers(rows)}`);
    const sums = sql`requests, failed, refused, input_tokens, output_tokens, cache_read_tokens,
      cache_write_tokens, cache_write_1h_tokens, reasoning_tokens, images, video_ms,
      video_tokens, cost, unbilled_tokens, attempts, failed_attempts`;
    await run(sql`
      insert into usage_hourly (hour, key_id, user_id, team_id, model, channel, client, ${sums})
      select time - time % ${sql.lit(hour)}, key_id, user_id, team_id, model, channel, client, count(*), 0, 0,
        sum(input_tokens), sum(output_tokens), 0, 0, 0, 0, 0, 0, 0, sum(cost), 0, count(*), 0
      from usage group by 1, 2, 3, 4, 5, 6, 7`);
    await run(sql`
      insert into usage_daily (day, key_id, user_id, team_id, model, channel, ${sums})
      select time - time % ${sql.lit(24 * hour)}, key_id, user_id, team_id, model, channel, count(*), 0, 0,
        sum(input_tokens), sum(output_tokens), 0, 0, 0, 0, 0, 0, 0, sum(cost), 0, count(*), 0
      from usage group by 1, 2, 3, 4, 5, 6`);
    await run(sql`
      insert into ledger_entries (transaction_id, account, kind, amount, time)
      select ${named('tx_', sql`n`)}, ${named('user:usr_', user)}, 'usage', -1000, ${newest} - n * 1000
      from ${numbers(Math.floor(rows / 2))}`);
    await run(sql`
      insert into ledger_entries (transaction_id, account, kind, amount, time)
      select ${named('tx_', sql`n`)}, 'revenue', 'usage', 1000, ${newest} - n * 1000
      from ${numbers(Math.floor(rows / 2))}`);
    await run(sql`
      insert into audit_log (time, actor_kind, actor_id, actor_name, action, object_kind, object_id, object_name, changes)
      select ${newest} - n * 60000, 'user', ${named('usr_', user)}, ${named('person-', user)} || '@example.com',
        case when n % 3 = 0 then 'key.create' else 'user.change' end, case when n % 3 = 0 then 'key' else 'user' end,
        ${named('key_', key)}, ${named('key-', key)}, '[{"field":"name","before":"a","after":"b"}]'
      from ${numbers(audit)}`);
  });
}
