import { expect, test } from 'vitest';
import { joinInTurns } from './join-in-turns.ts';

test('pieces become one body, and others have their turn meanwhile', async () => {
  const pieces = Array.from({ length: 12 }, (_, index) => Buffer.alloc(1024 * 1024, index));
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const joined = await joinInTurns(pieces);
  isOver = true;
  expect(joined.equals(Buffer.concat(pieces))).toBe(true);
  expect(turns).toBeGreaterThan(3);
});

test('no pieces are an empty body', async () => {
  expect(await joinInTurns([])).toEqual(Buffer.alloc(0));
});
