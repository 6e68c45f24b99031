import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { scripts } from '../../src/counting/redis/scripts.ts';
import { openGateway } from '../behaviour/support.ts';
import { canStartRedis, startPrivateRedis, type PrivateRedis } from './private-redis.ts';

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

/** What a Redis is asked from now on: names of our scripts, or the command. What scripts do inside is left out. */
async function monitor(redis: PrivateRedis): Promise<() => Promise<string[]>> {
  const names = new Map(Object.entries(scripts).map(([name, { sha }]) => [sha, name]));
  const open = () => {
    const socket = connect(Number(new URL(redis.url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    return socket;
  };
  const [socket, marker] = [open(), open()];
  let text = '';
  socket.setEncoding('utf8').on('data', (more: string) => (text += more));
  socket.write('MONITOR\r\n');
  await expect.poll(() => text).toContain('+OK');
  let marks = 0;
  return async () => {
    const mark = `until-${(marks += 1)}`;
    marker.write(`ECHO ${mark}\r\n`);
    await expect.poll(() => text).toContain(mark);
    const lines = text.slice(0, text.indexOf(mark)).split('\n').slice(0, -1);
    text = text.slice(text.indexOf(mark) + mark.length);
    return lines.flatMap((line) => {
      const [, from, command = '', first = ''] =
        /^\+[\d.]+ \[\d+ (\S+)\] "(\w+)"(?: "([^"]*)")?/.exec(line) ?? [];
      if (from === undefined || from === 'lua') return [];
      return [command.toLowerCase() === 'evalsha' ? (names.get(first) ?? first) : command];
    });
  };
}

test.skipIf(!canStartRedis)(
  'one command for each step: the rates, the money, the settlement, the slot; none for what is known to be exhausted',
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
    // What is seen for the first time is asked from the database, and entered.
    for (const name of ['plain', 'full']) expect(await ask(name)).toBe(200);
    await gateway.usage();
    const asked = await monitor(redis);

    const requests = 5;
    const times = (...names: string[]) =>
      Array.from({ length: requests }, () => names)
        .flat()
        .toSorted();
    for (let turn = 0; turn < requests; turn += 1) expect(await ask('plain')).toBe(200);
    await gateway.usage();
    expect((await asked()).toSorted()).toEqual(times('hold', 'settle'));

    for (let turn = 0; turn < requests; turn += 1) expect(await ask('full')).toBe(200);
    await gateway.usage();
    expect((await asked()).toSorted()).toEqual(times('admit', 'hold', 'settle', 'leave'));

    expect(await ask('once')).toBe(200);
    expect(await ask('once')).toBe(429);
    await gateway.usage();
    await asked();
    for (let turn = 0; turn < requests; turn += 1) expect(await ask('once')).toBe(429);
    expect(await asked()).toEqual([]);

    expect(await ask('poor')).toBe(402);
    await asked();
    expect(await ask('poor')).toBe(402);
    // Its rate is counted; that there is no money is known for half a second.
    expect(await asked()).toEqual(['admit']);
  },
);
