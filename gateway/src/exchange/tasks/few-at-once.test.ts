import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createFewAtOnce } from './few-at-once.ts';

test('no more run at once, all run in order, and a failure frees its place', async () => {
  const inTurn = createFewAtOnce(2);
  const begun: number[] = [];
  let running = 0;
  let most = 0;
  const all = Array.from({ length: 7 }, (_, at) =>
    inTurn(async () => {
      begun.push(at);
      running += 1;
      most = Math.max(most, running);
      await turn();
      running -= 1;
      if (at % 3 === 0) throw new Error(`failed ${at}`);
      return at;
    }),
  );
  const ends = await Promise.allSettled(all);
  expect(most).toBe(2);
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(ends.map(({ status }) => status === 'rejected')).toEqual(begun.map((at) => at % 3 === 0));
  expect(await inTurn(async () => 'again')).toBe('again');
});
