import { beforeEach, expect, test } from 'vitest';
import { createDatabaseBreaker, type DatabaseBreaker } from './breaker.ts';

const closed = 'the database did not respond a moment ago';

let now: number;
let asked: number;
let breaker: DatabaseBreaker;
beforeEach(() => {
  now = 1_000;
  asked = 0;
  breaker = createDatabaseBreaker(() => now);
});

const ask = (result: Promise<string>): Promise<string> =>
  breaker(() => {
    asked += 1;
    return result;
  }).catch((error: Error) => error.message);
const fails = () => ask(Promise.reject(new Error('slow')));
const answers = () => ask(Promise.resolve('yes'));

async function open(): Promise<void> {
  for (let time = 0; time < 5; time += 1) expect(await fails()).toBe('slow');
}

test('R-29 after five failures in a row it is not queried any more', async () => {
  for (let time = 0; time < 4; time += 1) await fails();
  expect(await answers()).toBe('yes');
  await open();
  expect(asked).toBe(10);
  expect(await answers()).toBe(closed);
  expect(asked).toBe(10);
});

test('one query a second probes it, and no other waits', async () => {
  await open();
  now += 999;
  expect(await answers()).toBe(closed);
  now += 1;
  const late = Promise.withResolvers<string>();
  const probe = ask(late.promise);
  now += 5_000;
  expect(await answers()).toBe(closed);
  late.reject(new Error('slow'));
  expect(await probe).toBe('slow');
  expect(await answers()).toBe(closed);
  now += 1_000;
  expect(asked).toBe(6);
  expect(await answers()).toBe('yes');
  expect(await Promise.all([answers(), answers()])).toEqual(['yes', 'yes']);
});

test('a query from before does not block the probe, and its result counts', async () => {
  const before = Promise.withResolvers<string>();
  const early = ask(before.promise);
  await open();
  now += 1_000;
  const late = Promise.withResolvers<string>();
  const probe = ask(late.promise);
  before.resolve('yes');
  expect(await early).toBe('yes');
  expect(await answers()).toBe('yes');
  late.resolve('too');
  expect(await probe).toBe('too');
});

test('one failure of half a second is enough', async () => {
  const quick = Promise.withResolvers<string>();
  const slow = Promise.withResolvers<string>();
  const both = [ask(quick.promise), ask(slow.promise)];
  now += 499;
  quick.reject(new Error('away'));
  expect(await both[0]).toBe('away');
  expect(await answers()).toBe('yes');
  now += 1;
  slow.reject(new Error('slow'));
  expect(await both[1]).toBe('slow');
  expect(await answers()).toBe(closed);
  now += 1_000;
  expect(await answers()).toBe('yes');
  expect(await fails()).toBe('slow');
  expect(await answers()).toBe('yes');
});
