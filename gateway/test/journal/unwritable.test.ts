import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { startGatewayPlace } from '../support/gateway-place.ts';
import { scrape, valueOf } from '../observability/support.ts';

const secretOf = (name: string) => `sk-${name}-0123456789abcdefghijklmnopqrstuvwxyz`;

/** A gateway with a model at a price, one at none, and a key of a group that pays nothing. */
const config = `
groups: [{ name: guests, price_multiplier: 0 }]
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    groups: [default, guests]
    protocols: [chat, responses, messages, generate-content]
    models: [{ name: priced, upstream: demo-chat }, { name: free, upstream: demo-chat }]
models:
  - { id: priced, type: chat, price: { input: 1, output: 2 } }
  - { id: free, type: chat, price: { input: 0, output: 0 } }
users: [{ email: tester@example.com, balance: 100 }]
keys:
  - { name: test, user: tester@example.com, secret: ${secretOf('test')} }
  - { name: guest, user: tester@example.com, group: guests, secret: ${secretOf('guest')} }
`;

test.skipIf(process.platform !== 'linux')(
  'R-31 while the disk accepts nothing, billable requests are refused and the rest continues',
  { timeout: 60_000 },
  async () => {
    const { gateway, url, databaseUrl } = await startGatewayPlace({ config });
    const call = async (path: string, body?: object, key = 'test') => {
      const response = await fetch(url + path, {
        headers: {
          authorization: `Bearer ${secretOf(key)}`,
          'content-type': 'application/json',
        },
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, text, id: response.headers.get('x-request-id') ?? '' };
    };
    const messages = [{ role: 'user', content: 'hello' }];
    const chat = (model: string, key?: string, stream = false) =>
      call('/v1/chat/completions', { model, messages, stream }, key);
    const count = () => call('/v1/messages/count_tokens', { model: 'priced', messages });
    const isUsable = async () => valueOf(await scrape(url), 'sluice_journal_usable');
    // No file may grow, as if the disk were full.
    const limitFiles = (size: string) =>
      execFileSync('prlimit', ['--pid', String(gateway.child.pid), `--fsize=${size}:unlimited`]);

    expect((await chat('priced')).status).toBe(200);
    limitFiles('1');
    expect((await chat('priced')).status).toBe(503);
    expect(await isUsable()).toBe(0);

    const served = [
      await chat('free'),
      await chat('free', 'test', true),
      await chat('priced', 'guest'),
      await chat('priced', 'guest', true),
      await count(),
    ];
    expect(served.map(({ status }) => status)).toEqual(served.map(() => 200));
    for (const index of [1, 3]) expect(served[index]?.text).toContain('data: [DONE]');
    for (const refused of [await chat('priced'), await chat('priced', 'test', true)]) {
      expect(refused.status).toBe(503);
    }
    for (const path of ['/v1/models', '/v1/usage']) {
      expect([path, (await call(path)).status]).toEqual([path, 200]);
    }
    expect((await call('/health')).text).toBe('{"status":"unavailable","reason":"journal"}');
    const ready = await call('/ready');
    expect([ready.status, JSON.parse(ready.text)]).toEqual([
      503,
      { status: 'unavailable', degraded: expect.arrayContaining(['journal']) },
    ]);
    // The three that were refused; of what was served nothing is lost yet.
    expect(valueOf(await scrape(url), 'sluice_usage_records_lost_total')).toBe(3);

    limitFiles('unlimited');
    await expect.poll(isUsable, { timeout: 10_000 }).toBe(1);
    expect((await chat('priced')).status).toBe(200);
    gateway.child.kill('SIGTERM');
    expect(await gateway.exit).toBe(0);
    const log = gateway.stderr();
    expect(log).toContain('records-lost');
    // Each begins and ends once, however long it takes; and a full disk is no defect.
    expect(log.match(/"journal: write-failed"/g)).toHaveLength(1);
    expect(log.match(/"journal: recovered from write-failed"/g)).toHaveLength(1);
    expect(log).not.toContain('unexpected error');

    const database = openDatabase({ url: databaseUrl });
    const rows = await database.kysely.selectFrom('usage').select(['id', 'outcome']).execute();
    await database.close();
    const completed = rows.filter(({ outcome }) => outcome === 'completed').map(({ id }) => id);
    expect(completed).toEqual(expect.arrayContaining(served.map(({ id }) => id)));
    expect(completed).toHaveLength(served.length + 2);
    expect(rows).toHaveLength(completed.length);
  },
);

test.skipIf(process.platform !== 'linux')(
  'R-31 a stop while the disk accepts nothing ends the process',
  { timeout: 60_000 },
  async () => {
    const { gateway, url } = await startGatewayPlace({ config });
    execFileSync('prlimit', ['--pid', String(gateway.child.pid), '--fsize=1:unlimited']);
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secretOf('test')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: 'priced', messages: [{ role: 'user', content: 'hello' }] }),
    });
    expect(response.status).toBe(503);
    gateway.child.kill('SIGTERM');
    expect(await gateway.exit).toBe(0);
    expect(gateway.stderr()).toContain('"msg":"stopped"');
  },
);
