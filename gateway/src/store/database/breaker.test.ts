import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { leaseRules } from '#limits/index.ts';
import { breakerRules, createDatabaseBreaker, type DatabaseBreaker } from './breaker.ts';

const closed = 'the database did not respond a moment ago';
const { restartMs, restartAskMs, mostWaiting, probeEveryMs } = breakerRules;

let asked: number;
/** What the database says. */
let reply: () => Promise<string>;
let breaker: DatabaseBreaker;
beforeEach(() => {
  vi.useFakeTimers();
  asked = 0;
  breaker = createDatabaseBreaker();
});
afterEach(() => void vi.useRealTimers());

const refuses = () => Promise.reject(new Error('away'));
const answers = () => Promise.resolve('yes');
const ask = () =>
  breaker(() => {
    asked += 1;
    return reply();
  }).catch((error: Error) => error.message);
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

/** The result of a promise so far. */
function watch(promise: Promise<string>): { result: string | null } {
  const watched: { result: string | null } = { result: null };
  void promise.then((result) => (watched.result = result));
  return watched;
}

/** The database is unreachable for longer than a restart takes. */
async function open(): Promise<void> {
  reply = refuses;
  const first = watch(ask());
  await pass(restartMs);
  expect(first.result).toBe('away');
  // What was due has been asked.
  await pass(probeEveryMs - 1);
  asked = 0;
}

test('look-ups wait as long as holds of money do', () => {
  expect({ restartMs, restartAskMs }).toEqual({
    restartMs: leaseRules.restartMs,
    restartAskMs: leaseRules.restartAskMs,
  });
});

test('a database that restarts refuses nobody, and is asked ten times a second', async () => {
  reply = refuses;
  const early = Array.from({ length: 20 }, () => watch(ask()));
  await pass(2_000);
  const late = watch(ask());
  expect(asked).toBeLessThan(20 + 5 + 20);
  reply = answers;
  await pass(2 * restartAskMs);
  expect([...early, late].map(({ result }) => result)).toEqual(Array(21).fill('yes'));
});

test('R-29 nobody waits any longer for a database that stays away', async () => {
  reply = refuses;
  const early = Array.from({ length: 20 }, () => watch(ask()));
  await pass(restartMs - 1);
  const late = watch(ask());
  await pass(2 * restartAskMs);
  expect([...early, late].every(({ result }) => result === 'away' || result === closed)).toBe(true);
  asked = 0;
  expect(await Promise.all([ask(), ask()])).toEqual([closed, closed]);
  expect(asked).toBe(0);
});

test('only so many wait; the others fail at once', async () => {
  reply = refuses;
  const crowd = Array.from({ length: mostWaiting + 5 }, () => watch(ask()));
  await pass(0);
  expect(crowd.filter(({ result }) => result !== null)).toHaveLength(5);
  reply = answers;
  await pass(2 * restartAskMs);
  expect(crowd.filter(({ result }) => result === 'yes')).toHaveLength(mostWaiting);
});

test('one query a second probes it, and no other waits', async () => {
  await open();
  expect(await ask()).toBe(closed);
  await pass(1);
  const late = Promise.withResolvers<string>();
  reply = () => late.promise;
  const probe = ask();
  await pass(5_000);
  expect(await ask()).toBe(closed);
  late.reject(new Error('slow'));
  expect(await probe).toBe('slow');
  expect(await ask()).toBe(closed);
  await pass(probeEveryMs);
  expect(asked).toBe(1);
  reply = answers;
  expect(await ask()).toBe('yes');
  expect(await Promise.all([ask(), ask()])).toEqual(['yes', 'yes']);
});

test('a query from before does not block the probe, and its result counts', async () => {
  const before = Promise.withResolvers<string>();
  reply = () => before.promise;
  const early = ask();
  await open();
  await pass(1);
  const late = Promise.withResolvers<string>();
  reply = () => late.promise;
  const probe = ask();
  before.resolve('yes');
  expect(await early).toBe('yes');
  reply = answers;
  expect(await ask()).toBe('yes');
  late.resolve('too');
  expect(await probe).toBe('too');
});

test('after one failure of half a second the others wait for a probe, and ask nothing', async () => {
  const slow = Promise.withResolvers<string>();
  reply = () => slow.promise;
  const first = watch(ask());
  await pass(499);
  reply = refuses;
  const quick = watch(ask());
  await pass(restartAskMs);
  slow.reject(new Error('slow'));
  await pass(0);
  asked = 0;
  const others = [watch(ask()), watch(ask())];
  await pass(0);
  expect(asked).toBe(0);
  reply = answers;
  await pass(2 * restartAskMs);
  expect([first, quick, ...others].map(({ result }) => result)).toEqual(Array(4).fill('yes'));
});

test('each restart has its time, and an old failure none', async () => {
  await open();
  await pass(breakerRules.recentMs + 1);
  const again = watch(ask());
  await pass(restartMs - 2 * restartAskMs);
  expect(again.result).toBe(null);
  reply = answers;
  await pass(2 * restartAskMs);
  expect(again.result).toBe('yes');
  reply = refuses;
  const next = watch(ask());
  await pass(restartAskMs);
  expect(next.result).toBe(null);
  reply = answers;
  await pass(2 * restartAskMs);
  expect(next.result).toBe('yes');
});
