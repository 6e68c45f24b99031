import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CollectedBody } from './collected-body.ts';

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
