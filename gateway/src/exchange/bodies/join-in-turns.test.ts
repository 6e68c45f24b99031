import { expect, test } from 'vitest';
import { joinInTurns } from './join-in-turns.ts';

const mebibyte = 1024 * 1024;

test.each([
  ['small', Array.from({ length: 12 }, (_, index) => Buffer.alloc(mebibyte, index))],
  ['large', [Buffer.from('a'), Buffer.alloc(40 * mebibyte, 'b'), Buffer.from('c')]],
])('%s pieces become one body, and others have their turn meanwhile', async (_, pieces) => {
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

test('one piece is the body', async () => {
  const piece = Buffer.from('a');
  expect(await joinInTurns([piece])).toBe(piece);
});

test('no pieces are an empty body', async () => {
  expect(await joinInTurns([])).toEqual(Buffer.alloc(0));
});
