import { expect, test } from 'vitest';
import { createItemMemory, createSealedTexts, createSharedItems } from './item-memory.ts';

const kept = new Map<string, string>();
const shared = {
  keep: (values: ReadonlyMap<string, string>) => {
    for (const [key, value] of values) kept.set(key, value);
  },
  find: async (keys: readonly string[]) =>
    new Map(keys.flatMap((key) => (kept.has(key) ? [[key, kept.get(key)!] as const] : []))),
};
const open = () =>
  createSharedItems(
    createItemMemory({ now: () => 0, maxBytes: 10_000_000 }),
    createSealedTexts({
      kind: 'item',
      shared,
      seal: (text, place) => `${place}|${text}`,
      open(sealed, place) {
        if (!sealed.startsWith(`${place}|`)) throw new Error('damaged');
        return sealed.slice(place.length + 1);
      },
      digest: (place) => place.length.toString() + place,
    }),
  );

test('another process finds what one has kept, for its owner only', async () => {
  const [one, other] = [open(), open()];
  one.keep('user:1', [{ id: 'a', text: '{"a":1}' }]);
  expect(await other.find('user:1', ['a', 'b'])).toEqual(new Map([['a', '{"a":1}']]));
  expect(await other.find('user:2', ['a'])).toEqual(new Map());
});

test('an altered copy and a large response are not found', async () => {
  const [one, other] = [open(), open()];
  one.keep('user:1', [{ id: 'c', text: 'x' }]);
  for (const key of kept.keys()) kept.set(key, 'altered');
  expect((await other.find('user:1', ['c'])).size).toBe(0);
  one.keep('user:1', [{ id: 'd', text: 'x'.repeat(300_000) }]);
  expect((await other.find('user:1', ['d'])).size).toBe(0);
  expect((await one.find('user:1', ['d'])).size).toBe(1);
});
