import { describe, expect, test } from 'vitest';
import { canStartRedis } from '../limits/private-redis.ts';
import { isSkipped } from '../database/databases.ts';
import {
  admittedOf,
  askEverywhere,
  isDegraded,
  key,
  knowEachOther,
  nodeNames,
  startNodes,
  stopAndReconcile,
} from './nodes.ts';

describe.skipIf(!canStartRedis || isSkipped('postgres'))('three nodes without Redis', () => {
  test(
    'L-10 L-11 without Redis each node enforces its share of a rate, and the balance is spent to its end, not beyond',
    { timeout: 180_000 },
    async () => {
      const nodes = await startNodes(`
users:
  - { email: rich@example.com, balance: 1000 }
  - { email: some@example.com, balance: 30 }
keys:
  - { name: rate, user: rich@example.com, secret: ${key('rate')}, rpm: 90 }
  - { name: some, user: some@example.com, secret: ${key('some')} }
`);
      const { urls, place, database } = nodes;
      await knowEachOther(urls);
      const money = { key: key('some'), model: 'priced' };
      const before = await askEverywhere(urls, 3, money);
      expect(admittedOf(before)).toBe(3);

      await place.redis.stop();
      // Found out by the next requests; none of them is unlimited meanwhile.
      const rates = await Promise.all(
        urls.map((url) => askEverywhere([url], 60, { key: key('rate') })),
      );
      for (const responses of rates) expect(admittedOf(responses)).toBe(30);
      for (const url of urls) expect(await isDegraded(url, 'redis')).toBe(true);
      // 30 USD less what was spent, and a hold of some 2 USD for each: everything at once takes all there is.
      const alone = await Promise.all(
        urls.map((url) => askEverywhere([url], 20, { ...money, fault: 'delay=1500' })),
      );
      const held = alone.map(admittedOf);
      for (const count of held) {
        expect(count).toBeGreaterThan(0);
        expect(count).toBeLessThan(20);
      }

      await place.redis.start();
      for (const url of urls) {
        await expect.poll(() => isDegraded(url, 'redis'), { timeout: 15_000 }).toBe(false);
      }
      // Everything that is left, until nobody gets any more.
      let admitted = 0;
      for (let round = 0; round < 40; round += 1) {
        const now = admittedOf(await askEverywhere(urls, 24, money));
        admitted += now;
        if (now === 0) break;
      }
      await stopAndReconcile(nodes);
      const rows = await database.kysely
        .selectFrom('usage')
        .select(['cost', 'held', 'overshoot'])
        .where('model', '=', 'priced')
        .where('cost', 'is not', null)
        .execute();
      expect(rows).toHaveLength(3 + held.reduce((sum, count) => sum + count, 0) + admitted);
      const overshoot = rows.reduce((sum, row) => sum + (row.overshoot ?? 0n), 0n);
      const spent = rows.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n);
      expect(spent).toBeLessThanOrEqual(30_000_000_000n + overshoot);
    },
  );

  test(
    'where none is configured each node enforces its share of a rate, and reports it once a key has one',
    { timeout: 120_000 },
    async () => {
      const nodes = await startNodes(
        `
users: [{ email: rich@example.com, balance: 1000 }]
keys:
  - { name: rate, user: rich@example.com, secret: ${key('rate')}, rpm: 30 }
  - { name: some, user: rich@example.com, secret: ${key('some')} }
`,
        nodeNames,
        { sharesRedis: false },
      );
      const { urls } = nodes;
      await knowEachOther(urls);
      const word = '3 nodes without redis: each enforces its share of every rate';
      expect(admittedOf(await askEverywhere(urls, 12, { key: key('some') }))).toBe(12);
      for (const url of urls) expect(await isDegraded(url, word)).toBe(false);
      for (const url of urls) {
        expect(admittedOf(await askEverywhere([url], 20, { key: key('rate') }))).toBe(10);
        expect(await isDegraded(url, word)).toBe(true);
      }
      await stopAndReconcile(nodes);
    },
  );
});
