import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator } from 'simulator';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/database/index.ts';
import { reconcile, type Difference } from '../../src/ledger/index.ts';
import { createTestDatabase, isSkipped } from '../database/databases.ts';
import { startGatewayProcess, type GatewayProcess } from '../support/gateway-process.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { askChat, secret } from '../workers/workplace.ts';
import { runClients, type SeenAnswer } from './load.ts';

const isFull = process.env['SLUICE_FAULT_LOOPS'] !== undefined;
/** Milliseconds for which the database is away. */
const howLong = isFull ? 60_000 : 2_500;
/** Of the known keys' answers; a machine that does other work adds its own to the slowest few. */
const quantile = isFull ? 0.99 : 0.9;

const unknownKey = (turn: number) => `sk-nobody${turn}-0123456789abcdefghijklmnopqrstuvwxyz`;

interface Place {
  readonly gateway: GatewayProcess;
  readonly url: string;
  readonly databaseUrl: string;
  readonly proxy: TcpProxy;
}

async function startPlace(): Promise<Place> {
  const simulator = await startSimulator();
  const { url: databaseUrl, drop } = await createTestDatabase('postgres');
  const target = new URL(databaseUrl);
  const proxy = await startTcpProxy(target.hostname, Number(target.port || 5432));
  target.hostname = '127.0.0.1';
  target.port = String(proxy.port);
  const folder = mkdtempSync(join(tmpdir(), 'sluice-away-'));
  writeFileSync(
    join(folder, 'sluice.yaml'),
    `
server: { port: 0, drain_timeout: 5s }
storage: { url: ${JSON.stringify(target.href)}, data_dir: ./data }
channels:
  - name: sim
    provider: simulator
    base_url: ${simulator.url}
    protocols: [chat, responses, messages, generate-content]
    models: [demo-chat]
users: [{ email: tester@example.com, balance: 1000 }]
keys: [{ name: test, user: tester@example.com, secret: ${secret} }]
`,
  );
  const gateway = startGatewayProcess({ folder });
  onTestFinished(async () => {
    gateway.child.kill('SIGKILL');
    await gateway.exit;
    await simulator.close();
    await drop();
    rmSync(folder, { recursive: true, force: true });
  });
  return { gateway, url: await gateway.url, databaseUrl, proxy };
}

/** Milliseconds that so many answers took, one after the other. */
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
  'R-28 R-29 PostgreSQL cut off, then answering seconds late: known keys go on, unknown ones wait, the books are right',
  { timeout: 60_000 + 2 * faults.length * howLong },
  async () => {
    const { gateway, url, databaseUrl, proxy } = await startPlace();
    await latencies(url, 500);
    const before = await latencies(url, 1_000);
    expect((await askChat(url, { key: unknownKey(0) })).status).toBe(401);

    const seen: SeenAnswer[] = [];
    for (const [turn, begin] of faults.entries()) {
      let wanted = true;
      const load = runClients(
        { url, key: secret, random: Math.random, onCompleted: () => {}, wanted: () => wanted },
        2,
      );
      begin(proxy);
      const stranger = askChat(url, { key: unknownKey(turn + 1) });
      const during = await latencies(url, howLong);
      // What nobody can look up is not said to be wrong: clients throw such keys away.
      expect((await stranger).status).toBe(503);
      expect(during.length).toBeGreaterThan(20);
      expect(at(during, quantile) - at(before, quantile)).toBeLessThan(50);
      // It is looked at every few seconds.
      await expect
        .poll(() => degradedOf(url), { timeout: 10_000, interval: 100 })
        .toMatchObject({ status: 'ok', degraded: ['database'] });
      proxy.mend();
      wanted = false;
      seen.push(...(await load));
      await expect
        .poll(() => degradedOf(url), { timeout: 15_000, interval: 100 })
        .toEqual({ status: 'ok', degraded: [] });
      expect((await askChat(url, { key: unknownKey(turn + 1) })).status).toBe(401);
    }
    // All by itself, and within half a minute also after a long time.
    await expect.poll(() => depthOf(url), { timeout: 30_000, interval: 250 }).toBe(0);
    gateway.child.kill('SIGINT');
    expect(await gateway.exit).toBe(0);

    const database = openDatabase({ url: databaseUrl });
    onTestFinished(() => database.close());
    const rows = await database.kysely.selectFrom('usage').select(['id', 'outcome']).execute();
    const outcomes = new Map(rows.map(({ id, outcome }) => [id, outcome]));
    expect(outcomes.size).toBe(rows.length);
    const completed = seen.filter((answer) => answer.completed);
    expect(completed.length).toBeGreaterThan(50);
    expect(completed.filter(({ id }) => outcomes.get(id ?? '') !== 'completed')).toEqual([]);
    const differences: Difference[] = [];
    await reconcile(database, {}, (difference) => void differences.push(difference));
    expect(differences).toEqual([]);
  },
);
