import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inBase64, inBytes } from './recode.ts';

const piece = 3 * 128 * 1024;

test('a picture is the same in bytes and in Base64, however long', async () => {
  const length = fc.oneof(
    fc.nat(10),
    fc.integer({ min: piece - 3, max: piece + 3 }),
    fc.nat(3 * piece),
  );
  await fc.assert(
    fc.asyncProperty(length, fc.nat(255), async (count, seed) => {
      const bytes = Buffer.from(Uint8Array.from({ length: count }, (_, index) => index * 7 + seed));
      const base64 = await inBase64({ kind: 'bytes', mime: 'image/png', bytes });
      expect(base64).toMatchObject({ kind: 'base64', mime: 'image/png' });
      if (base64.kind !== 'base64') return;
      expect(base64.base64.toString('latin1') === bytes.toString('base64')).toBe(true);
      const back = await inBytes(base64);
      expect(back.kind === 'bytes' && back.bytes.equals(bytes)).toBe(true);
    }),
    { numRuns: 30 },
  );
});
