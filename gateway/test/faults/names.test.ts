import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { attemptsOf, describeChannels, only, until } from '../behaviour/support.ts';
import { cannotFakeResolver, startFakeResolver } from '../support/fake-resolver.ts';
import { startGatewayPlace } from '../support/gateway-place.ts';
import { answerWith, startOwnUpstream, usageAt } from '../support/own-upstream.ts';
import { askChat, secret } from '../workers/workplace.ts';
import { allRows } from './reconcile.ts';

/** `npm run test:sieges` waits for the half minutes; else the gateway's clock jumps. */
const isPatient = process.env['SLUICE_FAULT_LOOPS'] !== undefined;
const preload = new URL('./monotonic-jump.preload.mjs', import.meta.url).href;

const hosts = ['moves', 'fails', 'silent', 'unknown'];

test.skipIf(cannotFakeResolver !== null)(
  `R-37 a name’s new address is used within half a minute, old ones while the resolver fails ${cannotFakeResolver ?? ''}`,
  { timeout: 120_000 },
  async () => {
    const resolver = await startFakeResolver();
    const [old, moved] = await startPair();
    for (const upstream of [old, moved]) {
      upstream.answer = (request, response) => {
        // So that each request needs a connection, and with it an address.
        response.setHeader('connection', 'close');
        answerWith(usageAt(request.path, 3, 9))(request, response);
      };
    }
    const { port } = new URL(old.url);
    const { url, gateway, databaseUrl } = await startGatewayPlace({
      within: resolver.within,
      environment: isPatient ? {} : { NODE_OPTIONS: `--import ${preload}` },
      config: `${describeChannels([
        ...hosts.map((host) => ({
          name: host,
          at: `http://${host}.upstream.test:${port}`,
          models: [host, `${host}-alone`],
          more: ['priority: 1'],
        })),
        { name: 'other', models: hosts.map((host) => `${host} -> demo-chat`) },
      ])}
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${secret} }]
`,
    });
    let jumps = 0;
    const halfMinute = async (): Promise<void> => {
      if (isPatient) return wait(30_100).then(() => {});
      jumps += 1;
      gateway.child.kill('SIGUSR2');
      await until(() => gateway.stderr().includes(`jumped to ${jumps * 30_000}\n`), 'the jump');
    };
    const servedBy = async (model: string): Promise<string> => {
      const before = [old.asked.length, moved.asked.length];
      const { status } = await askChat(url, { model });
      expect(status).toBe(200);
      if (old.asked.length > before[0]!) return 'old';
      return moved.asked.length > before[1]! ? 'moved' : 'other';
    };
    const name = (host: string) => `${host}.upstream.test`;

    for (const host of ['moves', 'fails', 'silent']) {
      resolver.set(name(host), ['127.0.0.2']);
      expect(await servedBy(host)).toBe('old');
    }
    resolver.set(name('moves'), ['127.0.0.3']);
    resolver.set(name('fails'), 'servfail');
    resolver.set(name('silent'), 'silence');
    // The name is not resolved again for half a minute.
    expect(await servedBy('moves')).toBe('old');
    expect(resolver.asked(name('moves'))).toBe(1);

    await halfMinute();
    expect(await servedBy('moves')).toBe('moved');
    expect(resolver.asked(name('moves'))).toBe(2);
    expect(await servedBy('fails')).toBe('old');
    expect(await servedBy('silent')).toBe('old');
    expect(resolver.asked(name('fails'))).toBeGreaterThan(1);
    expect(resolver.asked(name('silent'))).toBeGreaterThan(1);

    // An unknown name: the next channel, and without one a plain error.
    expect(await servedBy('unknown')).toBe('other');
    const alone = await askChat(url, { model: 'unknown-alone' });
    expect([502, 503]).toContain(alone.status);
    expect(alone.text).toMatch(/"message":"[^"]+"/);
    expect(alone.text).not.toContain('upstream.test');
    // Back, and there again: a failure is not kept.
    resolver.set(name('unknown'), ['127.0.0.3']);
    expect(await servedBy('unknown')).toBe('moved');

    gateway.child.kill('SIGINT');
    expect(await gateway.exit).toBe(0);
    const database = openDatabase({ url: databaseUrl });
    const rows = await allRows(database);
    await database.close();
    expect(attemptsOf(only(rows.filter(({ channel }) => channel === 'other')))).toEqual([
      { channel: 'unknown', class: 'not-sent', status: null, result: 'connect' },
      { channel: 'other', class: 'shown', status: 200, result: 'completed' },
    ]);
  },
);

/** Two upstreams on one port, at the addresses to which the names lead. */
async function startPair() {
  const old = await startOwnUpstream({ host: '127.0.0.2' });
  const moved = await startOwnUpstream({ host: '127.0.0.3', port: Number(new URL(old.url).port) });
  for (const upstream of [old, moved]) onTestFinished(() => upstream.close());
  return [old, moved] as const;
}
