import { expect, test } from 'vitest';
import { drawHistory } from './history.ts';

const hour = 3_600_000;
const ends = [
  '2026-11-25T12:00:00Z',
  // A week's end, at the hour that once drew no row that a second channel had answered.
  '2026-11-28T23:33:00Z',
  '2026-11-28T23:50:00Z',
  '2026-11-29T00:00:00Z',
  // A month's and a year's.
  '2026-11-30T23:59:50Z',
  '2026-12-31T23:59:50Z',
  '2028-02-29T23:58:00Z',
  // Clocks change in Europe.
  '2027-03-28T01:00:00Z',
  '2027-10-31T01:00:00Z',
].map((end) => Date.parse(end));

const keys = new Map(
  ['laptop', 'coding', 'ci', 'webui', 'search-index'].map((name) => [
    name,
    { id: `key_${name}`, user_id: 'user', team_id: null },
  ]),
);
const price = { price: { input: '1', output: '2' }, priceVersion: 'version' };
const models = new Map(
  (
    'claude-sonnet-5 claude-opus-4-8 claude-haiku-4-5 gpt-5 gpt-5-mini gemini-2.5-flash ' +
    'text-embedding-3-large qwen3-coder llama-fast'
  )
    .split(' ')
    .map((id) => [id, price]),
);

/** Without ids, which are drawn by chance; times as milliseconds before the end. */
const drawn = (end: number) =>
  drawHistory({ keys, models }, end, 2).map(({ time, attempts, charge, ...row }) => ({
    ...row,
    id: '',
    ago: end - time,
    attempts: attempts.map(({ startedAt, ...attempt }) => ({ ...attempt, at: startedAt - time })),
    cost: charge?.cost,
  }));

test('the same rows are drawn at every hour of every day', () => {
  expect(new Set(ends.map((end) => JSON.stringify(drawn(end)))).size).toBe(1);
});

test('nothing is later than the end, and what the pages show is among the newest rows', () => {
  const rows = drawn(ends[0] as number);
  expect(rows.every(({ ago }) => ago >= 0)).toBe(true);
  const retried = rows.find(({ ago }) => ago === hour / 4);
  expect(retried).toMatchObject({ channel: 'bedrock-eu', status: 200 });
  expect(retried?.attempts.map(({ result }) => result)).toEqual(['overloaded', 'completed']);
  const quarantined = rows.find(({ ago }) => ago === hour / 6);
  expect(quarantined).toMatchObject({ usageSource: 'quarantined', model: 'llama-fast' });
});
