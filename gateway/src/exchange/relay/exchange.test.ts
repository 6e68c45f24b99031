import { expect, test } from 'vitest';
import { type ExchangeInput, mayBeRetried, openExchange } from './exchange.ts';

test.each([
  ['0', 0],
  ['1', 1],
  ['99', 99],
  ['100', 0],
  ['-1', 0],
  ['1.5', 0],
  ['1e1', 0],
  [' 1', 0],
  ['', 0],
  [undefined, 0],
  [['1', '2'], 0],
])('x-stainless-retry-count %j is %d', (text, count) => {
  const headers = { 'x-stainless-retry-count': text };
  const input = { headers, body: Buffer.alloc(0) } as unknown as ExchangeInput;
  expect(openExchange({ digestBody: () => '' }, input).retryCount).toBe(count);
});

test('what the SDKs send again', () => {
  const statuses = [200, 400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 499, 500, 502, 503, 529];
  expect(statuses.filter(mayBeRetried)).toEqual([408, 409, 429, 499, 500, 502, 503, 529]);
});
