import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { channelTraffic } from '#usage/index.ts';
import { addDays, startOfDay } from '../../../console/src/app/days.ts';
import { calendarRanges, ranges, spanOf } from '../../../console/src/app/range.ts';
import { charge, keepPrice, record, recordAll } from '../journal/records.ts';
import { config, signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

/*
 * A range counts the same requests wherever it is read: those from its first moment to before its last one.
 */

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const now = Date.now();
const changes = ['2025-03-30', '2025-10-26'];

/** Dense around the present moment, beside the beginnings of hours and half hours, and where clocks change in Berlin. */
const times = [
  ...Array.from({ length: 200 }, (_, n) => now - 5_000 - n * n * 200_000),
  ...Array.from({ length: 120 }, (_, n) => now - (now % (hour / 2)) - n * (hour / 2)).flatMap(
    (half) => [half - 1, half],
  ),
  ...changes.flatMap((date) =>
    [-1, 0, 90 * minute, 150 * minute, 23 * hour, 24 * hour - 1, 24 * hour, 25 * hour].map(
      (after) => startOfDay(date, 'Europe/Berlin') + after,
    ),
  ),
].filter((time) => time < now);

const outcomes = ['completed', 'completed', 'failed', 'refused'] as const;
const records = times.map((time, n) => {
  const outcome = outcomes[n % outcomes.length] ?? 'completed';
  const isAsked = outcome !== 'refused';
  return record(`req_${n}`, {
    time,
    keyId: `key_${n % 7}`,
    userId: `usr_${n % 3}`,
    model: `model-${n % 5}`,
    channel: outcome === 'completed' ? `channel-${n % 2}` : null,
    outcome,
    status: isAsked ? 200 : 429,
    ...(!isAsked && { attempts: [], count: 1 + (n % 3) }),
    charge: outcome === 'completed' ? charge(BigInt(1 + n)) : null,
  });
});

let gateway: TestGateway;
let admin: Person;

beforeAll(async () => {
  gateway = await startWithPeople({ config: `retention: { usage: 36500d }\n${config}` });
  await keepPrice(gateway.app.database);
  await recordAll(gateway.app.database, records);
  admin = await signInAs(gateway, 'admin');
}, 60_000);
afterAll(() => gateway.close());

interface Counted {
  readonly requests: number;
  readonly cost: string;
}

async function read<Value = Counted>(path: string): Promise<Value> {
  const response = await admin.get(path);
  expect([path, response.status]).toEqual([path, 200]);
  return (await response.json()) as Value;
}

const presets = [...(Object.keys(ranges) as (keyof typeof ranges)[]), ...calendarRanges];
const spans = [
  ...['Europe/Berlin', 'Asia/Kolkata', 'UTC'].flatMap((tz) =>
    presets.map((range) => [`${range} in ${tz}`, spanOf({ range, tz }, now), tz] as const),
  ),
  ...changes.map((date) => {
    const [from, to] = [date, addDays(date, 1)].map((each) =>
      new Date(startOfDay(each, 'Europe/Berlin')).toISOString(),
    );
    return [
      `${date} in Europe/Berlin`,
      { from: from ?? '', to: to ?? '' },
      'Europe/Berlin',
    ] as const;
  }),
  ...[
    [10 * hour + 20 * minute + 31_123, 17 * minute],
    [40 * minute, 7 * minute],
    [50 * hour + 29 * minute, 3 * hour + 1],
    [3 * day + 1, 2 * day + 1],
  ].map(([back = 0, end = 0]) => {
    const [from, to] = [now - back, now - end].map((time) => new Date(time).toISOString());
    return [`from ${back} to ${end} ms ago`, { from: from ?? '', to: to ?? '' }, 'UTC'] as const;
  }),
];

test.each(spans)('%s', async (_name, { from, to }, tz) => {
  const within = records.filter(
    ({ time }) => time >= Date.parse(from) && (to === undefined || time < Date.parse(to)),
  );
  const requests = within.reduce((sum, { count = 1 }) => sum + count, 0);
  const cost = within.reduce((sum, { charge: each }) => sum + BigInt(each?.cost ?? 0), 0n);
  const range = new URLSearchParams({ from, ...(to !== undefined && { to }) }).toString();
  const isCut = tz !== 'Asia/Kolkata';
  const nano = (amount: string) => BigInt(Math.round(Number(amount) * 1e9));

  const found: Record<string, unknown> = {};
  const sums = {
    Overview: (await read<{ now: Counted }>(`/overview?${range}`)).now,
    'Usage by model': await read(`/usage/sums?by=model&${range}`),
    'Usage by key': await read(`/usage/sums?by=key&${range}`),
    'Usage by client and model': await read(`/usage/sums?by=client,model&${range}`),
    'Usage by the hour': await read(`/usage/sums?by=channel,hour&${range}`),
    ...(isCut && {
      'Usage by the day': await read(`/usage/sums?by=model,day&tz=${tz}&${range}`),
      'Usage by key and day': await read(`/usage/sums?by=key,day&tz=${tz}&${range}`),
    }),
    'chart of Requests': await read(`/usage/histogram?${range}`),
    'chart of Requests of a name': await read(`/usage/histogram?filter=-key:none&${range}`),
  };
  for (const [name, counted] of Object.entries(sums)) {
    found[name] = [counted.requests, nano(counted.cost)];
  }
  const total = (list: readonly { readonly requests: number; readonly cost: string }[]) => [
    list.reduce((sum, each) => sum + each.requests, 0),
    list.reduce((sum, each) => sum + nano(each.cost), 0n),
  ];
  const byModel = await read<{ data: Counted[] }>(`/usage/sums?by=model,hour&${range}`);
  found['parts of Usage'] = total(byModel.data);
  const csv = await (await admin.get(`/usage/export?format=jsonl&${range}`)).text();
  const lines = csv.split('\n').filter((line) => line !== '');
  const rows = lines.map((line) => JSON.parse(line) as { count: number; cost: string | null });
  found['file of requests'] = total(
    rows.map(({ count, cost: each }) => ({ requests: count, cost: each ?? '0' })),
  );
  expect(found).toEqual(
    Object.fromEntries(Object.keys(found).map((name) => [name, [requests, cost]])),
  );

  const completed = within.filter(({ outcome }) => outcome === 'completed').length;
  const latencies = await read<{ data: Counted[] }>(`/usage/latency?by=model&${range}`);
  const facets = await read<Record<string, { count: number }[]>>(`/usage/facets?${range}`);
  const countOf = (name: string) => facets[name]?.reduce((sum, { count }) => sum + count, 0);
  const list = await read<{ data: unknown[] }>(`/usage?limit=200&${range}`);
  expect([
    latencies.data.reduce((sum, each) => sum + each.requests, 0),
    countOf('outcome'),
    countOf('key'),
    list.data.length,
  ]).toEqual([completed, requests, requests, Math.min(200, within.length)]);
});

test('the last day of channels on Health is the range of 24 hours', async () => {
  const { from } = spanOf({ range: '24h', tz: 'UTC' }, now);
  const { data } = await read<{
    data: { name: string; attempts: number; failed_attempts: number }[];
  }>(`/usage/sums?by=channel&from=${from}`);
  const asked = records.filter(
    ({ time, attempts }) => time >= Date.parse(from) && attempts.length > 0,
  );
  expect(data.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(asked.length);
  const traffic = await channelTraffic(gateway.app.database.kysely, now);
  const attempts = Object.fromEntries([...traffic].map(([name, each]) => [name, each.attempts]));
  expect(attempts).toEqual(
    Object.fromEntries(
      data.filter((each) => each.attempts > 0).map((each) => [each.name, each.attempts]),
    ),
  );
});
