import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { describe, expect, test } from 'vitest';
import { openDatabase, type OpenDatabase } from '#database/index.ts';
import { createMigrations } from '#database/migrations/index.ts';
import {
  countKinds,
  countNames,
  groupUsage,
  listUsage,
  readHistogram,
  readLatency,
  recentHealth,
  type Dimension,
} from '#usage/index.ts';
import { createTestDatabase, dialects, isSkipped } from '../database/databases.ts';

/*
 * How long every read of the console's pages takes with many rows of 90 days and 500 keys. The figures are printed; they
 * depend on the machine.
 */

const day = 86_400_000;
const rounds = 5;
const migratedTo = '0025-sessions';

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
      operation, outcome, error, attempts, usage_source, receipt, rewrites, losses, user_agent, count)
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
      1
    from ${numbers}`.execute(kysely);
  await sql`
    insert into usage_hourly (hour, key_id, user_id, team_id, model, channel, requests, failed,
      input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens,
      reasoning_tokens, cost, unbilled_tokens, images, video_ms, video_tokens)
    select time - time % 3600000, key_id, user_id, coalesce(team_id, ''), model, channel, count(*),
      sum(case when outcome <> 'completed' then 1 else 0 end), sum(input_tokens),
      sum(output_tokens), sum(cache_read_tokens), 0, 0, 0, sum(cost), 0, 0, 0, 0
    from usage group by 1, 2, 3, 4, 5, 6`.execute(kysely);
}

/** Every read of the console's pages, by its name. */
function reads(db: OpenDatabase['kysely'], from: number, to: number) {
  const range = { from, to };
  const sums = (by: readonly Dimension[], more = {}) =>
    groupUsage(db, {
      ...range,
      by,
      metric: 'cost',
      first: by.length === 1 ? 50 : 8,
      timeZone: 'Europe/Berlin',
      ...more,
    });
  return {
    list: () => listUsage(db, { ...range, limit: 50 }),
    'list, failed': () => listUsage(db, { ...range, outcome: 'failed', limit: 50 }),
    'list, 5xx': () => listUsage(db, { ...range, statuses: [500, 599], limit: 50 }),
    'list, a rare client': () => listUsage(db, { ...range, client: 'codex', limit: 50 }),
    'list, cost': () => listUsage(db, { ...range, minCost: 10n ** 9n, limit: 50 }),
    'list, a model by its beginning': () =>
      listUsage(db, { ...range, beginnings: { model: 'gpt' }, limit: 50 }),
    'sums by model': () => sums(['model']),
    'sums by key': () => sums(['key']),
    'sums by user': () => sums(['user']),
    'sums by team': () => sums(['team']),
    'sums by channel': () => sums(['channel']),
    'sums by day': () => sums(['day']),
    'sums by model and day': () => sums(['model', 'day']),
    'sums by channel and month': () => sums(['channel', 'month']),
    'sums by key and day': () => sums(['key', 'day']),
    'sums by key and model': () => sums(['key', 'model']),
    'sums by user and day, of one': () => sums(['model', 'day'], { userId: 'usr_7' }),
    histogram: () => readHistogram(db, range, day),
    'histogram, 4xx': () => readHistogram(db, { ...range, statuses: [400, 499] }, day),
    'histogram, a client': () => readHistogram(db, { ...range, client: 'curl' }, day),
    'histogram, a model': () => readHistogram(db, { ...range, model: 'model-3' }, day),
    latency: () => readLatency(db, range, null),
    'latency by model': () => readLatency(db, range, 'model'),
    'latency of one person': () => readLatency(db, { ...range, userId: 'usr_7' }, 'model'),
    'facets, names': () => countNames(db, range),
    'facets, kinds': () => countKinds(db, range),
    'the last day of all models': () => recentHealth(db, 'model', null, to),
    'the last day of all channels': () => recentHealth(db, 'channel', null, to),
  } satisfies Record<string, () => Promise<unknown>>;
}

const count = Number(process.env['SLUICE_READ_ROWS'] ?? 1_000_000);

describe.each(dialects)('%s', (dialect) => {
  test.skipIf(isSkipped(dialect))(
    'every read of the pages over many rows, the slowest of five',
    { timeout: 1_800_000 },
    async () => {
      const { url, drop } = await createTestDatabase(dialect);
      const maker = openDatabase({ url, statementTimeout: 0 });
      const migrator = new Migrator({
        db: maker.kysely,
        provider: { getMigrations: async () => createMigrations(dialect) },
        ...(dialect === 'postgres' ? { migrationTableSchema: 'public' } : {}),
      });
      expect((await migrator.migrateTo(migratedTo)).error).toBeUndefined();
      const newest = Date.UTC(2026, 10, 25, 12, 30);
      await fill(maker, count, newest);
      const before = performance.now();
      expect((await migrator.migrateToLatest()).error).toBeUndefined();
      console.log(
        `${dialect}: ${count} rows migrated in ${((performance.now() - before) / 1000).toFixed(1)} s`,
      );
      if (dialect === 'postgres') await sql`vacuum analyze`.execute(maker.kysely);
      await maker.close();

      const database = openDatabase({ url, statementTimeout: 0, maxConnections: 2 });
      const hour = 3_600_000;
      const to = Math.ceil(newest / hour) * hour;
      const table: Record<string, Record<string, number>> = {};
      for (const [span, days] of [
        ['30 days', 30],
        ['a year', 365],
      ] as const) {
        for (const [name, read] of Object.entries(reads(database.kysely, to - days * day, to))) {
          const times: number[] = [];
          for (let round = 0; round < rounds; round++) {
            const start = performance.now();
            await read();
            times.push(performance.now() - start);
          }
          table[name] = { ...table[name], [span]: Math.round(Math.max(...times)) };
        }
      }
      console.log(`${dialect}, worst of ${rounds}, ms`);
      console.table(table);
      expect(Object.keys(table).length).toBeGreaterThan(20);
      await database.close();
      await drop();
    },
  );
});
