import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSlots } from './slots.ts';

test('whoever arrives just as a place becomes free does not run beside the one that waited for it', async () => {
  const slots = createSlots(1, 10);
  let running = 0;
  let most = 0;
  const work = (until: Promise<void>) => async () => {
    running += 1;
    most = Math.max(most, running);
    await until;
    running -= 1;
  };
  const first = Promise.withResolvers<void>();
  const rest = Promise.withResolvers<void>();
  const runs = [slots.run(work(first.promise)), slots.run(work(rest.promise))];
  // Of all moments in which somebody can arrive, each once.
  let arrival = first.promise;
  for (let step = 0; step < 6; step += 1) {
    arrival = arrival.then(() => void runs.push(slots.run(work(rest.promise))));
  }
  first.resolve();
  await nextRound();
  expect(runs).toHaveLength(8);
  rest.resolve();
  await Promise.all(runs);
  expect(most).toBe(1);
  expect(running).toBe(0);
});

test('what fails leaves its place', async () => {
  const slots = createSlots(1, 0);
  await expect(slots.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(slots.run(() => Promise.resolve('yes'))).resolves.toBe('yes');
});

test('beyond those that run and wait, nobody gets in', async () => {
  const slots = createSlots(1, 1);
  const open = Promise.withResolvers<void>();
  const runs = [slots.run(() => open.promise), slots.run(() => open.promise)];
  await expect(slots.run(() => open.promise)).rejects.toMatchObject({
    code: 'too_many',
    retryAfter: 1,
  });
  open.resolve();
  await Promise.all(runs);
});
