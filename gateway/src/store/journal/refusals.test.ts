import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { record } from '#test/journal/records.ts';
import { condenseRefusals } from './refusals.ts';
import type { ExchangeRecord } from '#usage/record.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function open() {
  const rows: ExchangeRecord[] = [];
  const refusals = condenseRefusals({
    journal: {
      append: async (row) => void rows.push(row),
      begin: () => {},
      usable: true,
    },
    modelIdOf: (name) => (name.startsWith('known') ? name.replace('-alias', '') : null),
    now: () => performance.now(),
  });
  let number = 0;
  const refuse = async (times: number, parts: Partial<ExchangeRecord> = {}) => {
    for (let time = 0; time < times; time += 1) {
      const refused = { outcome: 'refused', error: 'invalid_value', model: 'known' } as const;
      await refusals.append(record(`r${(number += 1)}`, { ...refused, ...parts }));
    }
  };
  return { rows, refusals, refuse };
}

test('up to 60 a minute keep their rows; the others are one row with their number and the id of the first', async () => {
  const { rows, refuse } = open();
  await refuse(1_000);
  expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: 60 }, (_, at) => `r${at + 1}`));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(rows).toHaveLength(61);
  expect(rows[60]).toMatchObject({ id: 'r61', count: 940, outcome: 'refused' });
  await refuse(60);
  expect(rows).toHaveLength(121);
  expect(rows.at(-1)?.count).toBeUndefined();
});

test('keys, reasons and known models are told apart; models that nobody knows are one', async () => {
  const { rows, refuse } = open();
  for (const parts of [
    {},
    { keyId: 'key_2' },
    { error: 'missing_parameter' },
    { model: 'known-2' },
  ])
    await refuse(60, parts);
  expect(rows).toHaveLength(240);
  for (let at = 0; at < 100; at += 1) await refuse(1, { model: `made up ${at}` });
  expect(rows).toHaveLength(300);
});

test('a key need not wait because the gateway could not serve it', async () => {
  const { refuse, refusals } = open();
  await refuse(1_000, { error: 'unavailable', status: 503 });
  expect(refusals.closedFor('key_1')).toBeNull();
});

test('only refusals are counted', async () => {
  const { rows, refuse, refusals } = open();
  await refuse(700, { outcome: 'failed' });
  await refuse(700, { outcome: 'completed' });
  expect(rows).toHaveLength(1_400);
  expect(refusals.closedFor('key_1')).toBeNull();
});

test('above 600 a minute, whatever the reasons, the key waits for the next minute, and no other key', async () => {
  const { refuse, refusals } = open();
  await refuse(300);
  await refuse(300, { error: 'missing_parameter' });
  expect(refusals.closedFor('key_1')).toBeNull();
  await vi.advanceTimersByTimeAsync(45_500);
  await refuse(1);
  expect(refusals.closedFor('key_1')).toBe(15);
  expect(refusals.closedFor('key_2')).toBeNull();
  await vi.advanceTimersByTimeAsync(14_500);
  expect(refusals.closedFor('key_1')).toBeNull();
});

test('a model whose pictures cannot be charged rests for that key, and their rows stay', async () => {
  const { rows, refuse, refusals } = open();
  const attempt = {
    channel: 'c',
    class: 'started',
    status: 200,
    startedAt: 0,
    durationMs: 1,
    upstreamRequestId: null,
  } as const;
  const failed = { outcome: 'failed', status: 502, error: 'upstream_abnormal' } as const;
  await refuse(100, { ...failed, attempts: [{ ...attempt, result: 'reset' }] });
  const attempts = [{ ...attempt, result: 'size-missing', units: { images: 1 } }];
  await refuse(5, { ...failed, attempts });
  await refuse(5, { ...failed, attempts, model: 'known-alias' });
  expect(refusals.unpaidFor('key_1', 'known')).toBeNull();
  await refuse(1, { ...failed, attempts });
  expect(refusals.unpaidFor('key_1', 'known')).toBe(60);
  expect(refusals.unpaidFor('key_1', 'known-2')).toBeNull();
  expect(refusals.unpaidFor('key_2', 'known')).toBeNull();
  expect(refusals.closedFor('key_1')).toBeNull();
  expect(rows).toHaveLength(111);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(refusals.unpaidFor('key_1', 'known')).toBeNull();
});

test('what is counted is written at the end of the process', async () => {
  const { rows, refuse, refusals } = open();
  await refuse(100);
  await refusals.close();
  expect(rows.at(-1)).toMatchObject({ id: 'r61', count: 40 });
});

test('no more is remembered than has a bound: many reasons and keys keep their rows', async () => {
  const { rows, refuse, refusals } = open();
  for (let at = 0; at < 5_000; at += 1) await refuse(1, { keyId: `key ${at}` });
  await refuse(100, { keyId: 'one more' });
  expect(rows).toHaveLength(5_100);
  await refusals.close();
  expect(rows).toHaveLength(5_100);
});

test('refusals before a request was read never have rows of their own', async () => {
  const { rows, refusals } = open();
  const note = (times: number, parts: Partial<ExchangeRecord>) => {
    for (let time = 0; time < times; time += 1) {
      refusals.note(
        record(`n${parts.keyId}${parts.error}${time}`, { outcome: 'refused', ...parts }),
      );
    }
  };
  note(5_000, { keyId: 'key_1', error: 'rate_limited', model: '' });
  note(3, { keyId: 'key_1', error: 'invalid_key', model: '' });
  note(1, { keyId: 'key_2', error: 'rate_limited', model: '' });
  expect(rows).toEqual([]);
  // Nor do they make the key wait.
  expect(refusals.closedFor('key_1')).toBeNull();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(rows.map(({ id, count }) => [id, count])).toEqual([
    ['nkey_1rate_limited0', 5_000],
    ['nkey_1invalid_key0', 3],
    ['nkey_2rate_limited0', 1],
  ]);
  // Beyond the bound of groups they leave nothing.
  for (let key = 0; key < 6_000; key += 1) note(1, { keyId: `key_${key}`, error: 'invalid_key' });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(rows).toHaveLength(3 + 5_000);
});
