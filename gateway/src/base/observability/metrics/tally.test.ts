import { expect, test } from 'vitest';
import { createTally } from './tally.ts';

test('counts by key, and new keys beyond the limit together', () => {
  const tally = createTally<'name'>(2, { name: 'other' });
  for (const name of ['a', 'b', 'a', 'c', 'd', 'b']) tally.add(name, () => ({ name }));
  expect([...tally.counts]).toEqual([
    { labels: { name: 'a' }, count: 2 },
    { labels: { name: 'b' }, count: 2 },
    { labels: { name: 'other' }, count: 2 },
  ]);
});
