import { expect, test } from 'vitest';
import { createReplyCache } from '../src/http/cache.ts';
import type { Reply } from '../src/http/reply.ts';

const request = { method: 'POST', headers: {}, body: Buffer.from('{}') };
const replyOf = (length: number): Reply => ({
  status: 200,
  headers: {},
  body: { kind: 'whole', bytes: Buffer.alloc(length) },
});

/** Asks for each reply once; returns how many of them the cache still has. */
function keptOf(count: number, reply: Reply): number {
  const cache = createReplyCache();
  let produced = 0;
  const ask = (index: number) =>
    cache(request, `/${index}`, '', () => {
      produced += 1;
      return reply;
    });
  for (let index = 0; index < count; index++) ask(index);
  expect(produced).toBe(count);
  for (let index = count - 1; index >= 0; index--) ask(index);
  return 2 * count - produced;
}

test.each([
  ['short', 100, 100, 100],
  ['short, but too many', 100, 300, 256],
  ['of a picture', 13 * 2 ** 20, 10, 4],
  ['too large', 17 * 2 ** 20, 3, 0],
])('replies are kept: %s', (_, length, count, kept) => {
  expect(keptOf(count, replyOf(length))).toBe(kept);
});

test('a reply is kept for each host, since addresses in it name the host', () => {
  const cache = createReplyCache();
  const at = (host: string) => cache({ ...request, headers: { host } }, '/', '', () => replyOf(1));
  expect(at('a')).toBe(at('a'));
  expect(at('a')).not.toBe(at('b'));
});
