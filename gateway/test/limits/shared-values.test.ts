import { describe, expect, onTestFinished, test } from 'vitest';
import { openSharedValues } from '#limits/index.ts';
import { isEnoughFree } from '#limits/redis/shared-values.ts';
import { canStartRedis, startPrivateRedis } from './private-redis.ts';

test('a quarter of Redis’ memory stays free', () => {
  const info = (used: number, most: number) =>
    `# Memory\r\nused_memory:${used}\r\nused_memory_rss:1\r\nmaxmemory:${most}\r\nmaxmemory_policy:noeviction\r\n`;
  expect(isEnoughFree(info(900, 0))).toBe(true);
  expect(isEnoughFree(info(750, 1000))).toBe(true);
  expect(isEnoughFree(info(751, 1000))).toBe(false);
  expect(isEnoughFree('')).toBe(false);
});

describe.skipIf(!canStartRedis)('values in Redis', () => {
  test(
    'are read by another process, and missing while Redis is unreachable',
    { timeout: 30_000 },
    async () => {
      const redis = await startPrivateRedis();
      onTestFinished(() => redis.stop());
      const open = async () => {
        const values = await openSharedValues(redis.url, () => performance.now());
        onTestFinished(() => values.close());
        return values;
      };
      const [one, other] = [await open(), await open()];
      const asked = async () => (await other.find(['a', 'b'])).get('a');
      await expect
        .poll(async () => {
          one.keep(new Map([['a', '1']]), 60);
          return asked();
        })
        .toBe('1');
      expect(await other.find(['b'])).toEqual(new Map());
      await redis.stop();
      await expect.poll(asked).toBeUndefined();
      one.keep(new Map([['a', '2']]), 60);
      expect(await asked()).toBeUndefined();
    },
  );
});
