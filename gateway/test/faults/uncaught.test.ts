import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { startGatewayPlace, type GatewayPlace } from '../support/gateway-place.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { canStartRedis } from '../limits/private-redis.ts';
import { isSkipped } from '../database/databases.ts';
import { askChat, createWorkplace, secret } from '../workers/workplace.ts';
import { runClients } from './load.ts';
import { allRows, reconcileLogs } from './reconcile.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom();

const preload = new URL('./uncaught.preload.mjs', import.meta.url).href;

const startPlace = (environment: Record<string, string> = {}): Promise<GatewayPlace> =>
  startGatewayPlace({
    drainTimeout: '10s',
    environment: { ...environment, NODE_OPTIONS: `--import ${preload}` },
  });

const readyOf = async (url: string) => {
  const response = await fetch(`${url}/ready`, { headers: { connection: 'close' } });
  return { code: response.status, ...((await response.json()) as { degraded: string[] }) };
};

test(
  'R-27 an uncaught exception: running responses end well, nothing is lost, exit code 1',
  { timeout: 30_000 },
  async () => {
    const { gateway, url, databaseUrl, simulator } = await startPlace();
    const stream = askChat(url, { stream: true, fault: 'events=40;gap=40' });
    await expect.poll(() => simulator.requests().length).toBe(1);
    // Until it cannot be reached any more.
    const load = runClients(
      {
        url,
        key: secret,
        random,
        onCompleted: () => {},
        faults: ['', 'gap=25', 'delay=60', 'status=500'],
      },
      4,
    );
    gateway.child.kill('SIGUSR2');
    await expect.poll(async () => (await readyOf(url)).code).toBe(503);
    expect(await readyOf(url)).toMatchObject({
      status: 'draining',
      degraded: ['uncaught exception: shutting down'],
    });
    expect(await metric(url, 'sluice_uncaught_errors_total{kind="exception"}')).toBe(1);
    // Until load balancers have noticed, requests are still served.
    const late = await askChat(url);
    expect(late.status).toBe(200);
    const early = await stream;
    expect(early.text).toContain('data: [DONE]');
    expect(await gateway.exit).toBe(1);
    const line = gateway
      .stderr()
      .split('\n')
      .find((each) => each.includes('uncaught exception'))!;
    expect(JSON.parse(line)).toMatchObject({
      level: 50,
      error: {
        message: 'a defect that was put in',
        stack: expect.stringContaining('uncaught.preload.mjs'),
      },
    });
    expect(gateway.stderr()).not.toContain(secret);
    const database = openDatabase({ url: databaseUrl });
    onTestFinished(() => database.close());
    const rows = await allRows(database);
    const outcomes = new Map(rows.map(({ id, outcome }) => [id, outcome]));
    expect([early, late].map(({ id }) => outcomes.get(id ?? ''))).toEqual([
      'completed',
      'completed',
    ]);
    const seen = await load;
    expect(seen.filter(({ completed }) => completed).length).toBeGreaterThan(10);
    expect(reconcileLogs(seen, rows, simulator.requests())).toEqual([]);
  },
);

test('R-27 the gateway continues after an unhandled rejection, and ends at once when it keeps throwing', async () => {
  const { gateway, url } = await startPlace({ DEFECT_AGAIN: '1' });
  gateway.child.kill('SIGPIPE');
  await expect.poll(() => metric(url, 'sluice_uncaught_errors_total{kind="rejection"}')).toBe(1);
  expect(await readyOf(url)).toMatchObject({
    code: 200,
    degraded: ['unhandled promise rejection'],
  });
  expect((await askChat(url)).status).toBe(200);
  expect(gateway.stderr()).toContain('a promise that was put in');
  // From here on it keeps throwing.
  gateway.child.kill('SIGUSR2');
  expect(await gateway.exit).toBe(1);
  expect(gateway.stderr().match(/"msg":"uncaught exception"/g)).toHaveLength(10);
});

const isFull = process.env['SLUICE_FAULT_LOOPS'] !== undefined && process.platform === 'linux';

test.skipIf(!isFull || !canStartRedis || isSkipped('postgres'))(
  'R-27 a worker with an uncaught exception shuts down in order and is replaced; the others continue',
  { timeout: 60_000 },
  async () => {
    const place = await createWorkplace();
    const folder = place.write({ server: ', workers: 2' });
    const gateway = startGatewayProcess({
      folder,
      environment: { NODE_OPTIONS: `--import ${preload}` },
    });
    onTestFinished(async () => {
      gateway.child.kill('SIGKILL');
      await gateway.exit;
    });
    const url = await gateway.url;
    const workers = (): number[] => {
      const { pid } = gateway.child;
      const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
      return text.trim().split(' ').filter(Boolean).map(Number);
    };
    const [victim, other] = workers();
    const streams = Array.from({ length: 6 }, () =>
      askChat(url, { stream: true, fault: 'events=40;gap=100' }),
    );
    await expect.poll(() => place.simulator.requests().length).toBe(6);
    process.kill(victim as number, 'SIGUSR2');
    const statuses: number[] = [];
    while (workers().includes(victim as number)) statuses.push((await askChat(url)).status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    for (const { text } of await Promise.all(streams)) expect(text).toContain('data: [DONE]');
    await expect.poll(() => workers().length, { timeout: 10_000 }).toBe(2);
    expect(workers()).toContain(other);
    expect(gateway.stderr()).toContain('worker 1, exit code 1');
    gateway.child.kill('SIGINT');
    expect(await gateway.exit).toBe(0);
  },
);

async function metric(url: string, series: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers: { connection: 'close' } })).text();
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return Number(line?.split(' ').at(-1));
}
