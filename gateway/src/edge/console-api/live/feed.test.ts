import { expect, test } from 'vitest';
import type { ExchangeRecord } from '#usage/index.ts';
import { createLiveFeed } from './feed.ts';

test('nothing is kept while nobody watches, but for a minute after the last one has left', () => {
  let now = 0;
  const feed = createLiveFeed({ epoch: 1, monotonic: () => now });
  const finish = (id: string) => feed.finished({ id } as ExchangeRecord);
  const kept = () => feed.last.map(({ number, record }) => `${number} ${record.id}`);

  finish('before anybody watched');
  expect(kept()).toEqual([]);

  const leave = feed.watch(() => {});
  finish('watched');
  leave();
  now += 60_000;
  finish('missed');
  expect(kept()).toEqual(['2 watched', '3 missed']);

  now += 1;
  finish('long after');
  expect(kept()).toEqual([]);
  expect(feed.finishedCount).toBe(4);
});
