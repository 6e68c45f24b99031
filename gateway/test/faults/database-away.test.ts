import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { reconcile, type Difference } from '#ledger/index.ts';
import { createTestDatabase, isSkipped } from '../database/databases.ts';
import { startGatewayPlace, type GatewayPlace } from '../support/gateway-place.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { askChat, secret } from '../workers/workplace.ts';
import { runClients } from './load.ts';
import { key } from './nodes.ts';
import { allRows, reconcileLogs, type ClientLog } from './reconcile.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom();

const isFull = process.env['SLUICE_FAULT_LOOPS'] !== undefined;
/** How long the database is unreachable, in milliseconds. */
const howLong = isFull ? 60_000 : 2_500;
/** Quantile of the known keys' latencies; other work of the machine affects the slowest few. */
const quantile = isFull ? 0.99 : 0.9;

/** Milliseconds, well below the second that a statement may take. */
const atOnce = 700;

const unknownKey = (turn: number) => `sk-nobody${turn}-0123456789abcdefghijklmnopqrstuvwxyz`;

interface Place extends GatewayPlace {
  /** Between the gateway and its database; `databaseUrl` goes past it. */
  readonly proxy: TcpProxy;
}

async function startPlace(options: { readonly config?: string } = {}): Promise<Place> {
  const { url: databaseUrl, drop } = await createTestDatabase('postgres');
  // Behind the gateway's end.
  onTestFinished(drop);
  const target = new URL(databaseUrl);
  const proxy = await startTcpProxy(target.hostname, Number(target.port || 5432));
  target.hostname = '127.0.0.1';
  target.port = String(proxy.port);
  const place = await startGatewayPlace({ ...options, databaseUrl: target.href });
  return { ...place, databaseUrl, proxy };
}

/** Latencies of consecutive answers for the given milliseconds. */
async function latencies(url: string, milliseconds: number): Promise<number[]> {
  const taken: number[] = [];
  const end = performance.now() + milliseconds;
  while (performance.now() < end) {
    const started = performance.now();
    expect((await askChat(url)).status).toBe(200);
    taken.push(performance.now() - started);
  }
  return taken.toSorted((a, b) => a - b);
}

const at = (sorted: readonly number[], share: number) =>
  sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] as number;

const degradedOf = async (url: string) =>
  (await (await fetch(`${url}/ready`)).json()) as { status: string; degraded: string[] };

const depthOf = async (url: string): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^sluice_journal_depth (\d+)$/m.exec(text)?.[1]);
};

const faults: readonly ((proxy: TcpProxy) => void)[] = [
  (proxy) => proxy.cut(),
  (proxy) => proxy.delay(3_000),
];

test.skipIf(isSkipped('postgres'))(
  'R-28 R-29 PostgreSQL cut off, then seconds late: known keys continue, unknown ones wait, the books are exact',
  { timeout: 60_000 + 2 * faults.length * howLong },
  async () => {
    const { gateway, url, databaseUrl, proxy, simulator } = await startPlace();
    await latencies(url, 500);
    const before = await latencies(url, 1_000);
    expect((await askChat(url, { key: unknownKey(0) })).status).toBe(401);

    const seen: ClientLog[] = [];
    for (const [turn, begin] of faults.entries()) {
      let wanted = true;
      const load = runClients(
        { url, key: secret, random, onCompleted: () => {}, wanted: () => wanted },
        2,
      );
      begin(proxy);
      const stranger = askChat(url, { key: unknownKey(turn + 1) });
      const during = await latencies(url, howLong);
      // A key that cannot be looked up is not reported as invalid: clients discard such keys.
      expect((await stranger).status).toBe(503);
      // Requests that wait for the database would be one or two. A machine with other work says nothing about time.
      expect(during.length).toBeGreaterThan(4);
      if (isFull) expect(at(during, quantile) - at(before, quantile)).toBeLessThan(50);
      // It is looked at every few seconds.
      await expect
        .poll(() => degradedOf(url), { timeout: 10_000, interval: 100 })
        .toMatchObject({ status: 'ok', degraded: ['database'] });
      proxy.restore();
      wanted = false;
      seen.push(...(await load));
      await expect
        .poll(() => degradedOf(url), { timeout: 15_000, interval: 100 })
        .toEqual({ status: 'ok', degraded: [] });
      // It is asked once a second.
      await expect
        .poll(async () => (await askChat(url, { key: unknownKey(turn + 1) })).status)
        .toBe(401);
    }
    // All by itself, and within half a minute also after a long time.
    await expect.poll(() => depthOf(url), { timeout: 30_000, interval: 250 }).toBe(0);
    gateway.child.kill('SIGINT');
    expect(await gateway.exit).toBe(0);

    const database = openDatabase({ url: databaseUrl });
    onTestFinished(() => database.close());
    expect(seen.filter(({ completed }) => completed).length).toBeGreaterThan(50);
    expect(reconcileLogs(seen, await allRows(database), simulator.requests())).toEqual([]);
    const differences: Difference[] = [];
    await reconcile(database, {}, (difference) => void differences.push(difference));
    expect(differences).toEqual([]);
  },
);

test.skipIf(isSkipped('postgres'))(
  'R-29 a slow key table: after one failed look-up unknown keys get 503 at once, known ones never wait',
  { timeout: 60_000 },
  async () => {
    const { url, databaseUrl } = await startPlace();
    expect((await askChat(url)).status).toBe(200);
    const askUnknown = async (turn: number) => {
      const started = performance.now();
      const { status } = await askChat(url, { key: unknownKey(turn) });
      return { status, took: performance.now() - started };
    };
    expect((await askUnknown(0)).status).toBe(401);

    const locker = new pg.Client({ connectionString: databaseUrl });
    await locker.connect();
    onTestFinished(() => locker.end());
    await locker.query('begin; lock table keys in access exclusive mode');
    const known: number[] = [];
    const unknown: number[] = [];
    while (unknown.length < 20 && !unknown.some((took) => took < atOnce)) {
      const stranger = askUnknown(unknown.length + 1);
      known.push(...(await latencies(url, 300)));
      const { status, took } = await stranger;
      expect(status).toBe(503);
      unknown.push(took);
    }
    // The first waited for its statement's second, as does one that finds out whether the database is back.
    expect(unknown[0]).toBeGreaterThan(900);
    expect(unknown.at(-1)).toBeLessThan(atOnce);
    expect(
      at(
        known.toSorted((a, b) => a - b),
        0.5,
      ),
    ).toBeLessThan(500);

    await locker.query('rollback');
    let turn = 100;
    await expect
      .poll(async () => (await askUnknown((turn += 1))).status, { timeout: 10_000, interval: 100 })
      .toBe(401);
  },
);

test.skipIf(isSkipped('postgres'))(
  "R-28 R-29 a PostgreSQL that is back at once refuses nobody: payers with and without leases, strangers, other nodes' ids",
  { timeout: 60_000 },
  async () => {
    const names = Array.from({ length: 40 }, (_, at) => `person${at}`);
    const list = (entries: readonly string[]) => entries.map((entry) => `\n  - ${entry}`).join('');
    const config = `
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat, responses]
    state: owned
    models: [{ name: priced, upstream: demo-chat }]
models:
  - { id: priced, type: chat, max_output_tokens: 1000, price: { input: 1000, output: 2000 } }
users:${list(names.map((name) => `{ email: ${name}@example.com, balance: 1000 }`))}
keys:${list(names.map((name) => `{ name: ${name}, user: ${name}@example.com, secret: ${key(name)} }`))}
`;
    const { gateway, url, databaseUrl, proxy } = await startPlace({ config });
    const ids: string[] = [];
    const ask = async (name: string) => {
      const { status, id, text } = await askChat(url, { key: key(name), model: 'priced' });
      expect([name, status, text]).toEqual([name, 200, expect.any(String)]);
      ids.push(String(id));
    };
    for (const name of names.slice(0, names.length / 2)) await ask(name);
    proxy.cut();
    const everybody = names.map(ask);
    const stranger = askChat(url, { key: unknownKey(0) });
    const nextTurn = fetch(`${url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key(names[0]!)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'priced', input: 'hi', previous_response_id: 'resp_unknown' }),
    });
    await expect.poll(() => gateway.stderr()).toContain('cannot lease funds');
    // As long as a quick restart takes.
    await wait(1_000);
    proxy.restore();
    await Promise.all(everybody);
    const refusal = await nextTurn;
    expect([(await stranger).status, refusal.status]).toEqual([401, 404]);
    ids.push(String(refusal.headers.get('x-request-id')));

    gateway.child.kill('SIGINT');
    expect(await gateway.exit).toBe(0);
    const database = openDatabase({ url: databaseUrl });
    onTestFinished(() => database.close());
    expect((await allRows(database)).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    const differences: Difference[] = [];
    await reconcile(database, {}, (difference) => void differences.push(difference));
    expect(differences).toEqual([]);
  },
);
