import fc from 'fast-check';
import { upsertKey, upsertTeam, upsertUser } from '#identity/index.ts';
import { formatUsd, type OpenDatabase } from '#database/index.ts';
import type { ExchangeRecord, UsageFilter } from '#usage/index.ts';
import { charge, keepPrice, record, recordAll } from '../journal/records.ts';
import { change } from '../database/databases.ts';
import { key, team, user } from '../database/samples.ts';

/** Names of which many would match each other if one were a pattern, or if case were ignored. */
const names = {
  key: ['ci', 'c_', 'c%', '%', 'CI', "c' or 1=1 --"],
  user: ['ada@example.com', 'a_a@example.com', 'a%@example.com'],
  team: ['research', 'rese%', 'r_search'],
  model: ['gpt-5', 'gpt_5', 'GPT-5', '%', 'a,"b"', "x' or '1'='1", '=1+1'],
  channel: ['main', 'ma_n', '%', 'Main'],
} as const;

/** Near the edges of hours and days, and often the same. */
const moments = [0, 1, 3_599_999, 3_600_000, 86_399_999, 86_400_000, 90_000_000].map(
  (after) => Date.UTC(2026, 10, 21) + after,
);

const filterKeys = ['key', 'user', 'team', 'model', 'channel', 'client'] as const;

/** By what clients call themselves. */
const clients = {
  'claude-cli/2.1.332 (external, cli)': 'claude-code',
  'codex_cli_rs/0.171': 'codex',
  'c_dex/1': 'other',
} as const;

/** A row as it was written, under the names that things have. */
export interface SeededRow {
  readonly id: string;
  readonly time: number;
  readonly key: string;
  readonly keyId: string;
  readonly user: string;
  readonly userId: string;
  readonly team: string | null;
  readonly teamId: string | null;
  readonly model: string;
  readonly channel: string | null;
  readonly userAgent: keyof typeof clients;
  readonly client: string;
  readonly outcome: 'completed' | 'failed';
  readonly output: number;
  readonly cost: bigint | null;
}

const sketch = fc.record({
  time: fc.constantFrom(...moments),
  key: fc.constantFrom(...names.key, 'key_gone'),
  user: fc.constantFrom(...names.user, 'usr_gone'),
  team: fc.constantFrom(...names.team, null),
  model: fc.constantFrom(...names.model),
  channel: fc.constantFrom(...names.channel, null),
  userAgent: fc.constantFrom(...(Object.keys(clients) as SeededRow['userAgent'][])),
  outcome: fc.constantFrom<SeededRow['outcome']>('completed', 'failed'),
  output: fc.integer({ min: 0, max: 1_000 }),
  cost: fc.option(fc.bigInt({ min: 0n, max: 2n ** 50n })),
});

/** Accounts with such names, and rows of theirs and of some that are gone. @returns the rows, the newest first */
export async function seedUsage(database: OpenDatabase): Promise<readonly SeededRow[]> {
  await change(database, async (file) => {
    for (const email of names.user) await upsertUser(file, { ...user, email });
    for (const name of names.team) await upsertTeam(file, { ...team, name, members: [] });
    for (const name of names.key) await upsertKey(file, { ...key, name, secret: null });
  });
  const { kysely } = database;
  const keys = await kysely.selectFrom('keys').select(['id', 'name']).execute();
  const users = await kysely.selectFrom('users').select(['id', 'email as name']).execute();
  const teams = await kysely.selectFrom('teams').select(['id', 'name']).execute();
  const idOf = (list: readonly { id: string; name: string }[], name: string): string =>
    list.find((each) => each.name === name)?.id ?? name;
  const rows = fc.sample(sketch, { numRuns: 150, seed: 7 }).map((row, index): SeededRow => ({
    ...row,
    id: `req_${String(index).padStart(3, '0')}`,
    keyId: idOf(keys, row.key),
    userId: idOf(users, row.user),
    teamId: row.team === null ? null : idOf(teams, row.team),
    client: clients[row.userAgent],
  }));
  await keepPrice(database);
  await recordAll(database, rows.map(toRecord));
  return rows.toSorted((a, b) => b.time - a.time || (a.id < b.id ? 1 : -1));
}

function toRecord(row: SeededRow): ExchangeRecord {
  const { id, time, keyId, userId, teamId, model, channel, outcome, output, cost, userAgent } = row;
  const tokens = { input: 1, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output, reasoning: 0 };
  const parts = { time, keyId, userId, teamId, model, channel, outcome, tokens, userAgent };
  return record(id, { ...parts, charge: cost === null ? null : charge(cost) });
}

/** Any filters together: most are of one row, by names or ids, so that something is left; some match nothing. */
export function anyFilter(rows: readonly SeededRow[]): fc.Arbitrary<UsageFilter> {
  const odd = fc.constantFrom('', '_', '%', '%%', '*', '\\', '.*', "'", 'nothing');
  const like = (...texts: readonly string[]) =>
    fc.oneof({ arbitrary: fc.constantFrom(...texts), weight: 9 }, { arbitrary: odd, weight: 1 });
  return fc.constantFrom(...rows).chain((row) => {
    const parts = fc.record({
      from: fc.constantFrom(0, ...moments.filter((time) => time <= row.time), row.time + 1),
      to: fc.constantFrom(2 ** 42, ...moments.filter((time) => time > row.time), row.time),
      key: like(row.key, row.keyId),
      user: like(row.user, row.userId, ` ${row.user.toUpperCase()} `),
      team: like(...(row.team === null ? ['none'] : [row.team, row.teamId ?? ''])),
      model: like(row.model),
      channel: like(row.channel ?? 'none'),
      client: like(row.client),
    });
    return fc
      .tuple(parts, fc.subarray(['from', 'to', ...filterKeys]))
      .map(([all, kept]) =>
        Object.fromEntries(Object.entries(all).filter(([name]) => kept.includes(name))),
      );
  });
}

/** A second definition of such a filter. */
export function matches(filter: UsageFilter, row: SeededRow): boolean {
  const { from = 0, to = Infinity } = filter;
  if (row.time < from || row.time >= to) return false;
  return filterKeys.every((name) => {
    const wanted = filter[name];
    if (wanted === undefined) return true;
    if (name === 'model' || name === 'channel' || name === 'client') return row[name] === wanted;
    if (row[`${name}Id`] === wanted) return true;
    // E-mail addresses ignore case; ids do not.
    return row[name] === (wanted.includes('@') ? wanted.trim().toLowerCase() : wanted);
  });
}

/** Nano-USD. */
export function costOf(rows: readonly SeededRow[]): bigint {
  return rows.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n);
}

/** As commands print it. */
export function shownCost({ cost }: SeededRow): string | null {
  return cost === null ? null : formatUsd(cost);
}
