import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startSimulator } from 'simulator';
import { test } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { createTestDatabase, isSkipped } from '../database/databases.ts';
import { startGatewayProcess, type GatewayProcess } from '../support/gateway-process.ts';
import { freePort } from '../support/free-port.ts';
import { isWithoutHaproxy, startHaproxy } from '../support/haproxy.ts';
import { isWithoutNginx, startNginx } from '../support/nginx.ts';
import { runClients } from './load.ts';
import type { ClientLog } from './reconcile.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom();

const key = 'sk-roll-0123456789abcdefghijklmnopqrstuv';
/** Nodes on one database seal and open the same secrets. */
const masterKey = randomBytes(32).toString('base64');
const clients = 12;

/** `npm run test:sieges` asks for all twenty; each takes some eight seconds. */
const restarts = process.env['SLUICE_FAULT_LOOPS'] === undefined ? 1 : 20;

const fronts = [
  { name: 'nginx', isMissing: isWithoutNginx, start: startNginx },
  { name: 'HAProxy', isMissing: isWithoutHaproxy, start: startHaproxy },
].filter(({ isMissing }) => !isMissing);

// At the same time: they mostly wait.
test.skipIf(fronts.length === 0 || isSkipped('postgres')).concurrent.for(fronts)(
  `R-25 R-31 rolling restarts (${restarts}) of two nodes behind $name, and then a full disk on one of them, lose no request and no row`,
  { timeout: 60_000 + restarts * 20_000 },
  async ({ start }, { expect, onTestFinished }) => {
    const simulator = await startSimulator();
    const { url: databaseUrl, drop } = await createTestDatabase('postgres');
    const folder = mkdtempSync(join(tmpdir(), 'sluice-roll-'));
    onTestFinished(async () => {
      await simulator.close();
      await drop();
      rmSync(folder, { recursive: true, force: true });
    });
    const ports = [await freePort(), await freePort()];
    const nodes: GatewayProcess[] = [];
    const startNode = async (index: number): Promise<void> => {
      const own = join(folder, `node-${index}`);
      mkdirSync(own, { recursive: true });
      const text = configuration(simulator.url, databaseUrl, ports[index] ?? 0);
      writeFileSync(join(own, 'sluice.yaml'), text);
      const node = startGatewayProcess({ folder: own });
      nodes[index] = node;
      await node.url;
    };
    await startNode(0);
    await startNode(1);
    const front = await start({ folder, ports });
    onTestFinished(() => front.close());
    const load = (wanted: () => boolean, onCompleted = () => {}): Promise<ClientLog[]> =>
      runClients(
        {
          url: front.url,
          key,
          random,
          onCompleted,
          faults: ['', 'gap=5', 'gap=40', 'delay=300', 'events=40;gap=80'],
          leaving: 0.15,
          wanted,
        },
        clients,
      );

    let restarting = true;
    const seen = load(() => restarting);
    await wait(500);
    for (let turn = 0; turn < restarts; turn += 1) {
      const index = turn % nodes.length;
      const node = nodes[index]!;
      node.child.kill('SIGTERM');
      expect(await node.exit).toBe(0);
      expect(node.stderr()).not.toMatch(/"level":(50|60)/);
      await startNode(index);
      // As an operator must: the next node stops only after the load balancer uses this one again.
      await expect.poll(() => front.sendsTo(index), { timeout: 20_000 }).toBe(true);
    }
    await wait(500);
    restarting = false;
    const responses = await seen;

    if (process.platform === 'linux') {
      fillDisk(nodes[0]!);
      const direct = await ask(ports[0] ?? 0);
      expect(direct.status).toBe(503);
      const health = await fetch(`http://127.0.0.1:${ports[0]}/health`);
      expect([health.status, await health.json()]).toEqual([
        503,
        { status: 'unavailable', reason: 'journal' },
      ]);
      let completed = 0;
      responses.push(
        ...(await load(
          () => completed < 200,
          () => void (completed += 1),
        )),
      );
      await expect
        .poll(() => nodes[0]!.stderr())
        .toContain('refusing all requests that cost something: their usage cannot be written');
    }
    for (const node of nodes) {
      node.child.kill('SIGINT');
      expect(await node.exit).toBe(0);
    }

    const lost = responses.filter(({ completed, left }) => !completed && !left);
    const rows = await readRows(databaseUrl);
    // What the front and the rows say helps to find out why.
    const asRecorded = rows.filter(({ id }) => lost.some((response) => response.id === id));
    expect({ lost, asRecorded, front: front.errors() }).toEqual({
      lost: [],
      asRecorded: [],
      front: expect.any(String),
    });
    const ids = new Set(rows.map(({ id }) => id));
    expect(ids.size).toBe(rows.length);
    const completed = responses.filter((response) => response.completed);
    expect(completed.length).toBeGreaterThan(restarts * 50);
    const recorded = new Map(rows.map((row) => [row.id, row.outcome]));
    expect(completed.filter(({ id }) => recorded.get(id ?? '') !== 'completed')).toEqual([]);
    // Both nodes received requests, and streams were open when a node was asked to stop.
    expect(rows.filter(({ outcome }) => outcome === 'client-left').length).toBeGreaterThan(0);
  },
);

/** No file of the process may grow, as if its disk were full. */
function fillDisk({ child }: GatewayProcess): void {
  execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=1:unlimited']);
}

function ask(port: number): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"model":"demo-chat","messages":[{"role":"user","content":"Hello!"}]}',
  });
}

function configuration(simulator: string, databaseUrl: string, port: number): string {
  return `
server: { port: ${port}, drain_timeout: 20s }
storage: { url: ${JSON.stringify(databaseUrl)}, data_dir: ./data }
secrets: { master_key: ${masterKey} }
channels:
  - name: sim
    provider: simulator
    base_url: ${simulator}
    protocols: [chat, responses, messages, generate-content]
    models: [demo-chat]
users: [{ email: tester@example.com, balance: 1000 }, { email: administrator@example.com, role: admin }]
keys: [{ name: test, user: tester@example.com, secret: ${key} }]
`;
}

async function readRows(
  url: string,
): Promise<{ id: string; outcome: string; attempts: unknown }[]> {
  const database = openDatabase({ url });
  try {
    return await database.kysely
      .selectFrom('usage')
      .select(['id', 'outcome', 'attempts'])
      .execute();
  } finally {
    await database.close();
  }
}
