import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CollectedBody, joinInTurns } from './collected-body.ts';

test('equals the received bytes, however they were split', () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.nat(70_000).map((length) => new Uint8Array(length).fill(length)),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const body = new CollectedBody();
      for (const each of pieces) body.add(Buffer.from(each));
      const whole = Buffer.concat(pieces);
      expect(body.length).toBe(whole.length);
      expect(body.whole().equals(whole)).toBe(true);
      expect(body.whole().equals(whole)).toBe(true);
    }),
  );
});

test.each([1, 2, 3, 8])('omits a byte order mark (in pieces of %d bytes)', (size) => {
  const body = new CollectedBody();
  const bytes = Buffer.from('\ufeff{"a":"\ufeff"}');
  for (let at = 0; at < bytes.length; at += size) body.add(bytes.subarray(at, at + size));
  expect(body.whole().toString()).toBe('{"a":"\ufeff"}');
});

test('alternating pieces do not take a slab each', () => {
  const body = new CollectedBody();
  const before = process.memoryUsage().arrayBuffers;
  const large = Buffer.alloc(2 * 1024, 'l');
  for (let round = 0; round < 2_000; round += 1) {
    body.add(large);
    body.add(Buffer.from('s'));
  }
  expect(body.length).toBe(2_000 * (2 * 1024 + 1));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 2 ** 20);
});

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
