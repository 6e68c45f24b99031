import { expect, test } from 'vitest';
import { readView, viewText } from './view.ts';

test('a kept list is the same list again, without the request that was open', () => {
  const search = { filter: 'model:"a b" cost:>0.1 &=', range: '7d', live: true } as const;
  expect(readView(viewText({ ...search, open: 'req_1' }))).toEqual(search);
  const between = { from: '2026-11-25T00:00:00.000Z', to: '2026-11-26T00:00:00.000Z' };
  expect(readView(viewText(between))).toEqual(between);
  expect([viewText({}), readView('')]).toEqual(['', {}]);
  expect(readView('range=ever&from=x&to=y&live=1&open=req_1')).toEqual({});
});
