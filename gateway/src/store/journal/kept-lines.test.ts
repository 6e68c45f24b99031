import { expect, test } from 'vitest';
import { KeptLines } from './kept-lines.ts';

test('keeps lines in their order up to its bound, and has room again once they are taken', () => {
  const kept = new KeptLines(10);
  expect(['12345', '1234', '12', '1'].map((line) => kept.add(line))).toEqual([
    true,
    true,
    false,
    true,
  ]);
  expect(kept.count).toBe(3);
  expect(kept.takeAll()).toEqual(['12345', '1234', '1']);
  expect(kept.count).toBe(0);
  expect(kept.takeAll()).toEqual([]);
  expect(kept.add('1234567890')).toBe(true);
});
