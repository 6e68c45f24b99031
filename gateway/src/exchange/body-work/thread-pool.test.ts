import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTurns } from './thread-pool.ts';

test('nobody is overtaken more than once by the same key, and each key keeps its order', () => {
  const keys = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 40 });
  fc.assert(
    fc.property(keys, (added) => {
      const turns = createTurns<{ key: string; at: number }>();
      added.forEach((key, at) => turns.add(key, { key, at }));
      const taken = Array.from(added, () => turns.take()!);
      expect(turns.take()).toBeUndefined();
      for (const key of ['a', 'b', 'c']) {
        const own = taken.filter((item) => item.key === key).map(({ at }) => at);
        expect(own).toEqual(own.toSorted((a, b) => a - b));
      }
      // While a key waits, no other one comes twice.
      taken.forEach(({ key }, at) => {
        const next = taken.findIndex((item, later) => later > at && item.key === key);
        const between = next === -1 ? [] : taken.slice(at + 1, next).map((item) => item.key);
        expect(new Set(between).size).toBe(between.length);
      });
    }),
  );
});

test('a removed item is not taken', () => {
  const turns = createTurns<string>();
  turns.add('a', 'one');
  turns.add('a', 'two');
  expect(turns.remove('a', 'one')).toBe(true);
  expect(turns.remove('a', 'one')).toBe(false);
  expect(turns.remove('b', 'two')).toBe(false);
  expect([turns.take(), turns.take()]).toEqual(['two', undefined]);
});
