import { expect, test } from 'vitest';
import {
  awaitEnd,
  contents,
  heldOf,
  submitVideo,
  synthesis,
  type Dialect,
} from '../behaviour/video-requests.ts';
import { createTestDatabase, isSkipped } from '../database/databases.ts';
import { canStartRedis, startPrivateRedis } from '../limits/private-redis.ts';
import { startTestGateway } from '../support/gateway.ts';
import { startVideoUpstream, videoConfig } from '../support/video-upstream.ts';
import { noonZone } from '../support/time-zones.ts';

const key = (name: string) => `sk-${name}-0123456789abcdefghijklmnopqrstuv`;

/* Whoever's limits have room for one video, of 0.50 USD or 0.70 USD. */
const limited = {
  balance: { status: 402, dialect: synthesis },
  quota: { status: 402, dialect: contents },
  budget: { status: 429, dialect: contents },
} as const satisfies Record<string, { status: number; dialect: Dialect }>;

test.skipIf(isSkipped('postgres') || !canStartRedis)(
  'Redis emptied with tasks open: no limit on money is exceeded, and every video is charged once',
  { timeout: 60_000 },
  async () => {
    const [upstream, redis, made] = await Promise.all([
      startVideoUpstream(),
      startPrivateRedis(),
      createTestDatabase('postgres'),
    ]);
    const gateway = await startTestGateway({
      databaseUrl: made.url,
      config: `redis: { url: "${redis.url}" }
${videoConfig(
  upstream.url,
  `
users:
  - { email: balance@example.com, balance: 0.99 }
  - { email: rich@example.com, balance: 100 }
teams:
  - { name: crew, balance: 100, time_zone: ${noonZone}, budget: { daily: 1 }, members: [{ user: rich@example.com }] }
keys:
  - { name: balance, user: balance@example.com, secret: ${key('balance')}, rpm: 1000 }
  - { name: quota, user: rich@example.com, quota: 1, secret: ${key('quota')}, rpm: 1000 }
  - { name: budget, user: rich@example.com, team: crew, secret: ${key('budget')}, rpm: 1000 }
`,
)}`,
    });
    try {
      const names = Object.keys(limited) as (keyof typeof limited)[];
      const submit = (name: keyof typeof limited) =>
        submitVideo(gateway.url, limited[name].dialect, {}, { key: key(name) });
      const submits = () => Promise.all(names.map(submit));
      const first = await submits();
      expect(first.map(({ status }) => status)).toEqual([200, 200, 200]);
      const refused = names.map((name) => limited[name].status);
      expect((await submits()).map(({ status }) => status)).toEqual(refused);
      const held = await heldOf(gateway);
      for (let round = 0; round < 3; round += 1) {
        await redis.command('FLUSHALL');
        expect((await submits()).map(({ status }) => status)).toEqual(refused);
      }
      expect(await heldOf(gateway)).toBe(held);
      expect(upstream.submits.length).toBe(names.length);
      upstream.end({ status: 'succeeded', usage: 5 });
      await redis.command('FLUSHALL');
      await Promise.all(
        names.map((name, at) => {
          const { dialect } = limited[name];
          const id = dialect.idOf(first[at]!.json);
          return awaitEnd(gateway.url, dialect, id, 'succeeded', { key: key(name) });
        }),
      );
      expect(await heldOf(gateway)).toBe(0n);
      const charged = (await gateway.usage()).filter(({ outcome }) => outcome === 'completed');
      expect(charged.length).toBe(names.length);
    } finally {
      await gateway.close();
      await redis.stop();
      await made.drop();
    }
  },
);
