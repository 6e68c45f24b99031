import { setTimeout as wait } from 'node:timers/promises';
import { startSimulator } from 'simulator';
import { Pool } from 'undici';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createUpstreamClient } from '#upstream/index.ts';
import { parseConfig } from '#config/index.ts';
import { openGateway } from '../behaviour/support.ts';
import { testKey } from '../support/gateway.ts';
import { runClients } from './load.ts';
import { allRows, reconcileLogs } from './reconcile.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom();

afterEach(() => void vi.useRealTimers());

/** Milliseconds under load. */
const howLong = process.env['SLUICE_FAULT_LOOPS'] === undefined ? 2_000 : 30_000;

/** Another price, another time-out and so other pools, and a channel that comes and goes. */
function configuration(turn: number): string {
  const channel = (name: string, timeout: number) => `
  - name: ${name}
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat, responses, messages, generate-content]
    timeouts: { connect: ${timeout}ms }
    models: [{ name: demo-chat, upstream: demo-chat }]`;
  return `
channels:${channel('always', 3_000 + (turn % 7))}${turn % 2 === 0 ? channel('sometimes', 5_000) : ''}
models:
  - { id: demo-chat, type: chat, max_output_tokens: 1000, price: { input: ${turn + 1}, output: ${2 * turn + 2} } }
users: [{ email: tester@example.com, balance: 1000 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey} }]
`;
}

test(
  'R-40 while everything changes ten times a second, no request is lost and each keeps its price',
  { timeout: howLong + 60_000 },
  async () => {
    const gateway = await openGateway({ config: configuration(0) });
    const { app, simulator, url } = gateway;
    const versionNow = () => app.catalogue.snapshot().models.get('demo-chat')?.priceVersion ?? '';
    /** From when a price held. The one before may hold until the reload has ended. */
    const reloads = [{ begun: -Infinity, done: Date.now(), version: versionNow() }];
    let wanted = true;
    const completed = { count: 0 };
    const load = runClients(
      {
        url,
        key: testKey,
        random,
        onCompleted: () => void (completed.count += 1),
        faults: ['', 'gap=5', 'delay=300', 'events=40;gap=20'],
        leaving: 0.05,
        wanted: () => wanted,
      },
      8,
    );
    const end = performance.now() + howLong;
    // A machine with other work takes longer to see as much.
    for (let turn = 1; performance.now() < end || completed.count < 60; turn += 1) {
      const text = `
server: { port: 0, drain_timeout: 2s }
storage: { url: "sqlite:${app.dataDir}/test.db", data_dir: "${app.dataDir}" }
${configuration(turn)}`;
      const begun = Date.now();
      await app.reload(
        parseConfig(text.replaceAll('SIMULATOR', simulator.url), {
          file: 'test.yaml',
          environment: {},
          bundledModels: ['demo-chat'],
        }),
      );
      reloads.push({ begun, done: Date.now(), version: versionNow() });
      await wait(Math.max(100 - (Date.now() - begun), 0));
    }
    wanted = false;
    const seen = await load;
    expect(seen.filter(({ completed, left }) => !completed && !left)).toEqual([]);
    expect(seen.length).toBeGreaterThan(50);

    await gateway.usage();
    expect(reconcileLogs(seen, await allRows(app.database), simulator.requests())).toEqual([]);
    const rows = await app.database.kysely
      .selectFrom('usage')
      .select(['id', 'time', 'duration_ms', 'price_version', 'outcome'])
      .where('outcome', '=', 'completed')
      .execute();
    const heldAt = (from: number, to: number) =>
      reloads
        .filter(({ begun }, at) => begun <= to && (reloads[at + 1]?.done ?? Infinity) >= from)
        .map(({ version }) => version);
    // Admitted between its arrival and the moment in which the upstream had it, both of this process's clock.
    const marks = new Map(seen.map(({ id, mark }) => [id, mark]));
    const askedAt = new Map<string, number>();
    for (const { body, receivedAt } of simulator.requests()) {
      for (const [, mark = ''] of body.matchAll(/([\w-]+)\./g)) {
        askedAt.set(mark, Math.min(receivedAt, askedAt.get(mark) ?? Infinity));
      }
    }
    const others = rows.filter(({ id, time, price_version: version }) => {
      const admittedBy = askedAt.get(marks.get(id) ?? '') ?? -Infinity;
      return !heldAt(time - 1, admittedBy).includes(version ?? '');
    });
    expect(others).toEqual([]);
    // And it mattered: many ended under another price than they began with.
    const outlived = rows.filter(
      ({ time, duration_ms: duration, price_version: version }) =>
        !heldAt(time + duration, time + duration).includes(version ?? ''),
    );
    expect(outlived.length).toBeGreaterThan(10);
    expect(new Set(reloads.map(({ version }) => version)).size).toBe(reloads.length);
  },
);

test('R-40 an unused pool is closed, but never during a call', async () => {
  const simulator = await startSimulator({ keptRequests: 200_000 });
  onTestFinished(() => simulator.close());
  const opened = vi.spyOn(Pool.prototype, 'dispatch');
  const closed = vi.spyOn(Pool.prototype, 'close');
  onTestFinished(() => void vi.restoreAllMocks());
  const count = (spy: { readonly mock: { readonly contexts: readonly unknown[] } }) =>
    new Set(spy.mock.contexts).size;
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const upstream = createUpstreamClient({ maxConnections: 10, onDefect: () => {} });
  onTestFinished(() => upstream.close());
  const ask = (connect: number, fault: string) =>
    new Promise<string>((resolve, reject) => {
      let text = '';
      upstream.send(
        {
          origin: simulator.url,
          path: '/v1/chat/completions',
          method: 'POST',
          headers: {
            authorization: 'Bearer sk-any',
            'content-type': 'application/json',
            'x-simulator-fault': fault,
          },
          body: Buffer.from(
            '{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}',
          ),
          timeouts: { connect, firstByte: 5_000, streamIdle: 5_000, total: 10_000 } as never,
        },
        {
          onHead: () => {},
          onData: (chunk) => void (text += chunk.toString()),
          onEnd: () => resolve(text),
          onBreak: reject,
        },
      );
    });

  const slow = ask(1_000, 'events=20;gap=50');
  for (let connect = 1_001; connect < 1_020; connect += 1) await ask(connect, '');
  expect(count(opened)).toBe(20);
  vi.advanceTimersByTime(60_000);
  expect(count(closed)).toBe(0);
  vi.advanceTimersByTime(60_000);
  // All but the one with a call.
  expect(count(closed)).toBe(19);
  expect(await slow).toContain('data: [DONE]');
  vi.advanceTimersByTime(60_000);
  expect(count(closed)).toBe(20);
  expect(await ask(1_000, '')).toContain('data: [DONE]');
  expect(count(opened)).toBe(21);
});
