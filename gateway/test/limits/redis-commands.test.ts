import { expect, onTestFinished, test } from 'vitest';
import { openGateway } from '../behaviour/support.ts';
import { canStartRedis, startPrivateRedis } from './private-redis.ts';
import { monitor } from './redis-monitor.ts';

const secretOf = (name: string) => `sk-${name}-0123456789abcdefghijklmnopqrstuvwxyz`;

const config = (redis: string) => `
redis: { url: ${redis} }
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [{ name: priced, upstream: demo-chat }] }
models:
  - { id: priced, type: chat, max_output_tokens: 1000, price: { input: 1000, output: 2000 } }
users:
  - { email: u@example.com, balance: 100 }
  - { email: poor@example.com, balance: 0 }
teams: [{ name: t, balance: 100, rpm: 90, budget: { daily: 50, monthly: 60, total: 70 }, members: [{ user: u@example.com, role: member, budget: 40 }] }]
keys:
  - { name: plain, user: u@example.com, secret: ${secretOf('plain')} }
  - { name: full, user: u@example.com, team: t, secret: ${secretOf('full')}, rpm: 90, rph: 90, max_concurrency: 3, quota: 20 }
  - { name: once, user: u@example.com, secret: ${secretOf('once')}, rpm: 1 }
  - { name: poor, user: poor@example.com, secret: ${secretOf('poor')}, rpm: 90 }
`;

test.skipIf(!canStartRedis)(
  'one step each for the rates and the slot; none without rates, for money, or for a window that is known to be full',
  async () => {
    const redis = await startPrivateRedis();
    onTestFinished(() => redis.stop());
    const gateway = await openGateway({ config: config(redis.url) });
    const ask = async (name: string): Promise<number> => {
      const response = await gateway.post(
        '/v1/chat/completions',
        { model: 'priced', messages: [{ role: 'user', content: 'hi' }] },
        { authorization: `Bearer ${secretOf(name)}` },
      );
      await response.text();
      return response.status;
    };
    const batches = await monitor(redis);
    const asked = async (): Promise<string[]> => (await batches()).flat();

    const requests = 5;
    const times = (...names: string[]) =>
      Array.from({ length: requests }, () => names)
        .flat()
        .toSorted();
    for (let turn = 0; turn < requests; turn += 1) expect(await ask('plain')).toBe(200);
    await gateway.usage();
    expect(await asked()).toEqual([]);

    /** What so many requests asked Redis for. Where it was slow, a step is sent again. */
    const askedByFull = async (): Promise<string[]> => {
      for (let turn = 0; turn < requests; turn += 1) expect(await ask('full')).toBe(200);
      await gateway.usage();
      const slots = () => redis.command('KEYS', 'sluice:slots:*');
      await expect.poll(slots).toEqual([]);
      const steps = await asked();
      return steps.filter((step) => step === 'admit' || step === 'leave').toSorted();
    };
    await expect.poll(askedByFull, { timeout: 10_000 }).toEqual(times('admit', 'leave'));

    expect(await ask('once')).toBe(200);
    expect(await ask('once')).toBe(429);
    await gateway.usage();
    await asked();
    const askedByRefused = async (): Promise<string[]> => {
      for (let turn = 0; turn < requests; turn += 1) expect(await ask('once')).toBe(429);
      return asked();
    };
    await expect.poll(askedByRefused, { timeout: 10_000 }).toEqual([]);

    // What this process guards itself by is its own matter.
    const headers = { authorization: `Bearer ${secretOf('full')}` };
    expect((await fetch(`${gateway.url}/v1/models`, { headers })).status).toBe(200);
    expect(await asked()).toEqual([]);

    expect(await ask('poor')).toBe(402);
    expect(await asked()).toEqual(['admit']);
  },
);
