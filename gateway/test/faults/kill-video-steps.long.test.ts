import { afterAll, beforeAll, describe, test } from 'vitest';
import { dialects } from '../behaviour/video-requests.ts';
import { isSkipped } from '../database/databases.ts';
import { canStartRedis, startPrivateRedis, type PrivateRedis } from '../limits/private-redis.ts';
import { assertBooksAfterKillAt, nameOf, steps } from './video-steps.ts';

describe.skipIf(isSkipped('postgres') || !canStartRedis)('on PostgreSQL with Redis', () => {
  let redis: PrivateRedis;
  beforeAll(async () => {
    redis = await startPrivateRedis();
  });
  afterAll(() => redis.stop());

  describe.each(dialects)('$name', (dialect) => {
    test.each(steps.map((step) => [nameOf(step), step] as const))(
      'killed at %s',
      (_, step) => assertBooksAfterKillAt(step, dialect, redis),
      120_000,
    );
  });
});
