import { afterAll, beforeAll, describe, test } from 'vitest';
import { contents, synthesis } from '../behaviour/video-requests.ts';
import { isSkipped } from '../database/databases.ts';
import { canStartRedis, startPrivateRedis, type PrivateRedis } from '../limits/private-redis.ts';
import { assertBooksAfterKillAt, nameOf, steps } from './video-steps.ts';

/* The steps at which a client or the books could lose most; `kill-video-steps.long.test.ts` has all. */

const chosen = steps.filter(({ step, isDone }) => isDone && (step === 'accept' || step === 'end'));

describe.skipIf(isSkipped('postgres') || !canStartRedis)('on PostgreSQL with Redis', () => {
  let redis: PrivateRedis;
  beforeAll(async () => {
    redis = await startPrivateRedis();
  });
  afterAll(() => redis.stop());

  test.each(chosen.map((step) => [nameOf(step), step] as const))(
    'killed at %s',
    (_, step) => assertBooksAfterKillAt(step, step.step === 'end' ? synthesis : contents, redis),
    90_000,
  );
});
