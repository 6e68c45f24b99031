import { expect, test } from 'vitest';
import { createBodyMemory } from '#bodies/index.ts';
import { GatewayError } from '#errors/index.ts';
import { fetchWithin } from './fetch-within.ts';

const mebibyte = 2 ** 20;
const picture = { mime: 'image/png', bytes: Buffer.alloc(3 * mebibyte) };

function memoryOf(limit: number) {
  let held = 0;
  return {
    held: () => held,
    tryMore(bytes: number): boolean {
      if (bytes > 0 && held + bytes > limit) return false;
      held += bytes;
      return true;
    },
    refuse: () => new GatewayError('overloaded', { retryAfter: 1 }),
  };
}

test('a picture that is fetched has room for the largest one meanwhile, and then for its own bytes', async () => {
  const memory = memoryOf(64 * mebibyte);
  let meanwhile = 0;
  const fetch = fetchWithin(memory, async () => {
    meanwhile = memory.held();
    return picture;
  });
  await expect(fetch('https://example.com/a.png')).resolves.toBe(picture);
  expect([meanwhile, memory.held()]).toEqual([30 * mebibyte, 12 * mebibyte]);
});

test('without room nothing is fetched', async () => {
  const memory = memoryOf(31 * mebibyte);
  let fetched = 0;
  const fetch = fetchWithin(memory, async () => {
    fetched += 1;
    return picture;
  });
  const all = await Promise.allSettled([fetch('https://a.example'), fetch('https://b.example')]);
  expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(all[1]).toMatchObject({ reason: { errorName: 'overloaded' } });
  expect(fetched).toBe(1);
});

test('a picture that cannot be fetched takes no room', async () => {
  const memory = memoryOf(31 * mebibyte);
  const fetch = fetchWithin(memory, () => Promise.reject(new Error('no')));
  await expect(fetch('https://a.example')).rejects.toThrow('no');
  expect(memory.held()).toBe(0);
});

test('the memory for bodies takes room back', () => {
  const memory = createBodyMemory({ limit: 100 * mebibyte, monotonic: () => 0 });
  const claim = memory.open('k');
  claim.tryBody(1_000);
  claim.tryResponse(1_000);
  const before = claim.held;
  expect(claim.tryMore(mebibyte)).toBe(true);
  claim.tryMore(-mebibyte);
  expect(claim.held).toBe(before);
  claim.tryResponse(1_000);
  expect(claim.held).toBe(before);
});
