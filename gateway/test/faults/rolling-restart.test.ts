import { randomBytes } from 'node:crypto';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startSimulator } from 'simulator';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/database/index.ts';
import { createTestDatabase, isSkipped } from '../database/databases.ts';
import { startGatewayProcess, type GatewayProcess } from '../support/gateway-process.ts';
import { runClients, type SeenAnswer } from './load.ts';

const key = 'sk-roll-0123456789abcdefghijklmnopqrstuv';
/** Nodes on one database seal and open the same secrets. */
const masterKey = randomBytes(32).toString('base64');
const clients = 12;

/** `npm run test:faults` asks for all twenty; each takes some eight seconds. */
const restarts = process.env['SLUICE_FAULT_LOOPS'] === undefined ? 2 : 20;

const nginx = ['/usr/sbin/nginx', 'nginx'].find((path) => spawnSync(path, ['-v']).status === 0);
if (nginx === undefined && process.env['CI'] !== undefined) {
  throw new Error('no nginx, which this run requires');
}

test.skipIf(nginx === undefined || isSkipped('postgres'))(
  `R-25 ${restarts} rolling restarts of two nodes behind nginx lose no request and no row`,
  { timeout: 60_000 + restarts * 20_000 },
  async () => {
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
    const front = await startNginx(folder, ports);
    onTestFinished(() => void front.child.kill('SIGTERM'));

    let restarting = true;
    const seen: Promise<SeenAnswer[]> = runClients(
      {
        url: front.url,
        key,
        random: Math.random,
        onCompleted: () => {},
        faults: ['', 'gap=5', 'gap=40', 'delay=300', 'events=40;gap=80'],
        leaving: 0.05,
        wanted: () => restarting,
      },
      clients,
    );
    await wait(500);
    for (let turn = 0; turn < restarts; turn += 1) {
      const index = turn % nodes.length;
      const node = nodes[index]!;
      node.child.kill('SIGTERM');
      expect(await node.exit).toBe(0);
      expect(node.stderr()).not.toMatch(/"level":(50|60)/);
      await startNode(index);
    }
    await wait(500);
    restarting = false;
    const answers = await seen;
    for (const node of nodes) {
      node.child.kill('SIGINT');
      expect(await node.exit).toBe(0);
    }

    const lost = answers.filter(({ completed, left }) => !completed && !left);
    // What nginx says helps to find out why; it is empty when all is well.
    expect({ lost, nginx: readFileSync(join(folder, 'nginx-error.log'), 'utf8') }).toEqual({
      lost: [],
      nginx: expect.any(String),
    });
    const rows = await readRows(databaseUrl);
    const ids = new Set(rows.map(({ id }) => id));
    expect(ids.size).toBe(rows.length);
    const completed = answers.filter((answer) => answer.completed);
    expect(completed.length).toBeGreaterThan(restarts * 50);
    const recorded = new Map(rows.map((row) => [row.id, row.outcome]));
    expect(completed.filter(({ id }) => recorded.get(id ?? '') !== 'completed')).toEqual([]);
    // Both nodes were asked, and streams were open while a node was told to stop.
    expect(rows.filter(({ outcome }) => outcome === 'client-left').length).toBeGreaterThan(0);
  },
);

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
users: [{ email: tester@example.com, balance: 1000 }]
keys: [{ name: test, user: tester@example.com, secret: ${key} }]
`;
}

/** As an operator would put it in front: idle connections end before a stopping node closes its listener. */
async function startNginx(
  folder: string,
  ports: readonly number[],
): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/nginx-error.log error;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  upstream gateway {
    ${ports.map((each) => `server 127.0.0.1:${each} max_fails=0;`).join('\n    ')}
    keepalive 16;
    keepalive_timeout 4s;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://gateway;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 600s;
    }
  }
}
`,
  );
  const child = spawn(nginx ?? '', ['-p', folder, '-c', file], { stdio: 'ignore' });
  for (let round = 0; round < 100; round += 1) {
    const answers = await fetch(`http://127.0.0.1:${port}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (answers) return { url: `http://127.0.0.1:${port}`, child };
    await wait(50);
  }
  throw new Error('nginx did not start');
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}

async function readRows(url: string): Promise<{ id: string; outcome: string }[]> {
  const database = openDatabase({ url });
  try {
    return await database.kysely.selectFrom('usage').select(['id', 'outcome']).execute();
  } finally {
    await database.close();
  }
}
