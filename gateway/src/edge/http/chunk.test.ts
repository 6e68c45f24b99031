import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeChunk } from './chunk.ts';

test('a chunk is its size in hex, its bytes, and line ends', () => {
  expect(encodeChunk(['hello'], 5).toString()).toBe('5\r\nhello\r\n');
  expect(encodeChunk([Buffer.alloc(16, 'x')], 16).toString()).toBe(`10\r\n${'x'.repeat(16)}\r\n`);
});

test('any bytes and any text are unchanged', () => {
  const content = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.uint8Array({ minLength: 1, maxLength: 5000 }).map((array) => Buffer.from(array)),
  );
  fc.assert(
    fc.property(fc.array(content, { minLength: 1 }), (pieces) => {
      const plain = Buffer.concat(pieces.map((piece) => Buffer.from(piece as string)));
      const chunk = encodeChunk(pieces, plain.length);
      const end = chunk.indexOf('\r\n');
      expect(Number.parseInt(chunk.toString('latin1', 0, end), 16)).toBe(plain.length);
      expect(chunk.subarray(end + 2, -2)).toEqual(plain);
      expect(chunk.subarray(-2).toString()).toBe('\r\n');
    }),
  );
});
