import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { askChat } from '../workers/workplace.ts';
import { startClockedGateway } from './wall-clock.ts';

const hour = 3_600_000;
const day = 24 * hour;
const steps = [hour, -hour, 40 * day, -40 * day];

const key = (name: string) => `sk-${name}-0123456789abcdefghijklmnopqrstuvwxyz`;

test(
  'R-32 steps of the wall clock: answers, time-outs, rates and the journal are unaffected; expiry follows it',
  { timeout: 60_000 },
  async () => {
    const { url, database, stepBy, close } = await startClockedGateway({
      config: `
timeouts: { first_byte: 2s }
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [demo-chat] }
users: [{ email: tester@example.com, balance: 1000 }]
keys:
  - { name: free, user: tester@example.com, secret: ${key('free')} }
  - { name: rated, user: tester@example.com, secret: ${key('rated')}, rpm: 3 }
  - name: expiring
    user: tester@example.com
    secret: ${key('expiring')}
    expires_at: ${new Date(Date.now() + hour / 2).toISOString()}
`,
    });
    const statusOf = async (name: string, fault = '') =>
      (await askChat(url, { key: key(name), fault })).status;

    for (let time = 0; time < 3; time += 1) expect(await statusOf('rated')).toBe(200);
    expect(await statusOf('rated')).toBe(429);
    const started = performance.now();
    const streams = Array.from({ length: 5 }, () =>
      askChat(url, { key: key('free'), stream: true, fault: 'events=40;gap=60' }),
    );
    await wait(200);

    let asked = 0;
    for (const step of steps) {
      await stepBy(step);
      // The window has not moved: neither has it passed, nor does it begin again.
      expect(await statusOf('rated')).toBe(429);
      // Wrong time, wrong answer: a key that would have expired has, and is back with the right time.
      expect(await statusOf('expiring')).toBe(step > hour / 2 ? 401 : 200);
      if (step < hour / 2) asked += 1;
      // Enough to be gathered, which is a matter of time.
      await Promise.all(Array.from({ length: 60 }, () => statusOf('free')));
      asked += 60;
      await expect
        .poll(async () => (await database.kysely.selectFrom('usage').select('id').execute()).length)
        .toBeGreaterThanOrEqual(asked);
    }
    // A time-out that a step falls into ends when it should.
    const silent = statusOf('free', 'delay=20000');
    await stepBy(0);
    expect(await silent).toBe(502);
    expect(await statusOf('expiring')).toBe(200);

    for (const { text } of await Promise.all(streams)) expect(text).toContain('data: [DONE]');
    const elapsed = performance.now() - started;
    await close();

    const rows = await database.kysely
      .selectFrom('usage')
      .select(['duration_ms', 'ttft_ms'])
      .execute();
    for (const { duration_ms: duration, ttft_ms: first } of rows) {
      expect(duration).toBeGreaterThanOrEqual(0);
      expect(duration).toBeLessThan(elapsed);
      expect(first ?? 0).toBeGreaterThanOrEqual(0);
      expect(first ?? 0).toBeLessThan(elapsed);
    }
  },
);
