import { expect, test } from 'vitest';
import { createItemMemory } from './item-memory.ts';

const item = (id: string, length = 10) => ({ id, text: 'x'.repeat(length) });

test('items are kept for an hour, for their owner', async () => {
  let now = 0;
  const memory = createItemMemory({ now: () => now, maxBytes: 10_000_000 });
  memory.keep('user:1', [item('a'), item('b')]);
  expect(await memory.find('user:1', ['a', 'b', 'c'])).toEqual(
    new Map([
      ['a', 'x'.repeat(10)],
      ['b', 'x'.repeat(10)],
    ]),
  );
  expect(await memory.find('user:2', ['a'])).toEqual(new Map());
  now = 3_599_999;
  expect((await memory.find('user:1', ['a'])).size).toBe(1);
  now = 3_600_000;
  expect((await memory.find('user:1', ['a'])).size).toBe(0);
});

test('the oldest make room, and a large response is not remembered at all', async () => {
  const memory = createItemMemory({ now: () => 0, maxBytes: 3_000_000 });
  for (let at = 0; at < 10; at += 1) memory.keep('o', [item(`i${at}`, 400_000)]);
  const ids = Array.from({ length: 10 }, (_, at) => `i${at}`);
  expect([...(await memory.find('o', ids)).keys()]).toEqual(['i7', 'i8', 'i9']);
  memory.keep('o', [item('small'), item('large', 600_000)]);
  expect((await memory.find('o', ['small', 'large'])).size).toBe(0);
  const none = createItemMemory({ now: () => 0, maxBytes: 0 });
  none.keep('o', [item('a')]);
  expect((await none.find('o', ['a'])).size).toBe(0);
});
