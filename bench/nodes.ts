import { openDatabase } from '../gateway/src/store/database/index.ts';
import {
  canStartPostgres,
  startPrivatePostgres,
} from '../gateway/test/database/private-postgres.ts';
import { canStartRedis, startPrivateRedis } from '../gateway/test/limits/private-redis.ts';
import type { Bench } from './bench.ts';
import { Connection } from './connection.ts';
import { closedLoop, openLoop, type Load } from './load.ts';
import { cpuPerRequest, delays } from './measure.ts';
import type { ResultRow } from './report.ts';
import { loadFor } from './requests.ts';
import { median, sleep } from './statistics.ts';
import { startGateway, startTarget, type GatewayOptions, type Target } from './targets.ts';

const plainRun = { connections: 32, count: 24_000 } as const;
/** Requests per second of which each is measured alone. */
const plainRate = 100;
const warmUpRequests = 80_000;

/** Keys that have never been used, keys that are all used, and keys that two nodes spend. */
const firstKeys = 150;
const usedKeys = 1_000;
const sharedKeys = 100;
const busy = { connections: 64, count: 40_000 } as const;
/** Requests per second on the balance that all keys share, while first requests are measured beside them. */
const besideRate = 200;
/** USD: three requests hold nearly all of it. */
const sharedQuota = '0.0092';

const keyOf = (name: string): string => `sk-${name}-`.padEnd(44, '0123456789');

interface Nodes {
  readonly targets: readonly Target[];
  /** Commands on leases, of all nodes since their start. */
  commands(): Promise<number>;
  stop(): Promise<void>;
}

/** Nodes on a PostgreSQL and a Redis of their own; null where these cannot be started. */
async function startNodes(
  { settings, upstream }: Bench,
  directory: () => string,
  options: { readonly count: number } & Pick<GatewayOptions, 'keys'>,
): Promise<Nodes | null> {
  if (!canStartPostgres || !canStartRedis) {
    settings.progress('no PostgreSQL or no Redis to start: nothing is measured with them');
    return null;
  }
  const [postgres, redis] = await Promise.all([startPrivatePostgres(), startPrivateRedis()]);
  const { keys = '' } = options;
  const targets: Target[] = [];
  for (let at = 0; at < options.count; at += 1) {
    const gateway = { databaseUrl: postgres.url, redisUrl: redis.url, keys };
    targets.push(await startGateway(upstream.port, directory(), gateway));
  }
  const database = openDatabase({ url: postgres.url });
  return {
    targets,
    async commands() {
      const rows = await database.kysely.selectFrom('lives').select('number').execute();
      return rows.reduce((sum, { number }) => sum + number, 0);
    },
    async stop() {
      await Promise.all(targets.map((target) => target.stop()));
      await database.close();
      await Promise.all([postgres.close(), redis.stop()]);
    },
  };
}

const loadOf = (port: number, key?: string): Load =>
  loadFor(port, {
    protocol: 'chat',
    stream: false,
    size: 1_500,
    model: 'bench',
    ...(key !== undefined && { key }),
  });

/** What a request costs more that is counted for several nodes: money in PostgreSQL, rates in Redis. */
export async function measureNodes(bench: Bench, directory: () => string): Promise<ResultRow[]> {
  const { settings, upstream } = bench;
  const cpuTitle = 'CPU per plain request: one of two nodes ÷ one process on SQLite';
  const addedTitle = `added to a plain request by counting for two nodes, ${plainRate}/s, p50`;
  const results = (ratio?: number, added?: number): ResultRow[] => [
    { title: cpuTitle, unit: '×', values: { gateway: ratio }, bound: { atMost: 1.3 } },
    { title: addedTitle, unit: 'ms', values: { gateway: added }, bound: { atMost: 0.4 } },
  ];
  if (!settings.targets.includes('gateway')) return results();
  const nodes = await startNodes(bench, directory, { count: 2 });
  if (nodes === null) return results();
  const alone = await startTarget.gateway(upstream.port, directory());
  const both = { alone, shared: nodes.targets[0]! };
  try {
    await upstream.pace({ gap: 0 });
    for (const [name, { port }] of Object.entries(both)) {
      settings.progress(`warming up: ${name}`);
      await closedLoop(loadOf(port), 32, warmUpRequests);
    }
    const cpu: Record<keyof typeof both, number[]> = { alone: [], shared: [] };
    const time: Record<keyof typeof both, number[]> = { alone: [], shared: [] };
    for (let round = 1; round <= settings.rounds; round += 1) {
      for (const name of ['alone', 'shared'] as const) {
        const target = both[name];
        cpu[name].push(await cpuPerRequest(target, loadOf(target.port), plainRun));
        const { firstByte } = await delays(target, loadOf(target.port), plainRate, 10);
        time[name].push(firstByte.p50);
        settings.progress(`round ${round}: ${name} ${cpu[name].at(-1)} µs, ${firstByte.p50} µs`);
      }
    }
    return results(
      median(cpu.shared) / median(cpu.alone),
      (median(time.shared) - median(time.alone)) / 1_000,
    );
  } finally {
    await Promise.all([alone.stop(), nodes.stop()]);
  }
}

/** What leases cost where they are not warm. */
export async function measureLeases(bench: Bench, directory: () => string): Promise<ResultRow[]> {
  const { settings, upstream } = bench;
  const titles = [
    'added by the first request of a key, p50',
    `the same beside ${besideRate}/s on the same balance, p50`,
    `commands per 1 000 requests, ${usedKeys} keys, as fast as possible`,
    'added by a recall from another node, p50',
  ] as const;
  const results = (values: readonly number[]): ResultRow[] =>
    titles.map((title, at) => ({
      title,
      unit: at === 2 ? '×' : 'ms',
      values: { gateway: values[at] },
      bound: at < 2 ? { atMost: 3 } : null,
    }));
  if (!settings.targets.includes('gateway')) return results([]);
  const lines = [
    ...keyLines('first', 2 * firstKeys, '1000'),
    ...keyLines('used', usedKeys, '1000'),
    ...keyLines('shared', sharedKeys, sharedQuota),
  ];
  const nodes = await startNodes(bench, directory, { count: 2, keys: lines.join('') });
  if (nodes === null) return results([]);
  try {
    await upstream.pace({ gap: 0 });
    const [first, second] = nodes.targets as [Target, Target];
    for (const { port } of [first, second]) await closedLoop(loadOf(port), 32, warmUpRequests / 4);
    const names = Array.from({ length: 2 * firstKeys }, (_, at) => keyOf(`first-${at}`));
    const idle = await firstRequests(first, names.slice(0, firstKeys));
    settings.progress(`first requests: ${idle} ms more`);
    const beside = openLoop(loadOf(first.port), besideRate, 15);
    const under = await firstRequests(first, names.slice(firstKeys));
    await beside;
    settings.progress(`beside ${besideRate}/s: ${under} ms more`);
    const perThousand = await commandsPerThousand(nodes, first, settings.progress);
    const recall = await recalls(first, second);
    settings.progress(`recalls: ${recall} ms more`);
    return results([idle, under, perThousand, recall]);
  } finally {
    await nodes.stop();
  }
}

function keyLines(name: string, count: number, quota: string): string[] {
  return Array.from({ length: count }, (_, at) => {
    const own = `${name}-${at}`;
    return `  - { name: ${own}, secret: ${keyOf(own)}, user: bench@example.com, group: default, quota: ${quota} }\n`;
  });
}

/** Milliseconds from sending to the first byte. */
async function timeOf(connection: Connection, load: Load): Promise<number> {
  const { status, sentAt, firstByteAt } = await connection.exchange(load.request);
  if (status !== 200) throw new Error(`status ${status}`);
  return (firstByteAt - sentAt) / 1_000;
}

/** The look-up of a key is no part of it: the key is known when its first request comes. */
async function know(connection: Connection, port: number, key: string): Promise<void> {
  await connection.exchange(
    Buffer.from(
      `GET /v1/models HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${key}\r\n\r\n`,
    ),
  );
}

/** How much longer the first request of a key takes than its second: the median in milliseconds. */
async function firstRequests({ port }: Target, keys: readonly string[]): Promise<number> {
  const connection = new Connection(port);
  const times: { readonly first: number; readonly next: number }[] = [];
  for (const key of keys) {
    await know(connection, port, key);
    await sleep(20);
    const first = await timeOf(connection, loadOf(port, key));
    await sleep(20);
    times.push({ first, next: await timeOf(connection, loadOf(port, key)) });
  }
  connection.close();
  return median(times.map(({ first }) => first)) - median(times.map(({ next }) => next));
}

async function commandsPerThousand(
  nodes: Nodes,
  { port }: Target,
  progress: (text: string) => void,
): Promise<number> {
  const loads = Array.from({ length: usedKeys }, (_, at) => loadOf(port, keyOf(`used-${at}`)));
  const run = async (count: number): Promise<number> => {
    let left = count;
    const drive = async (): Promise<void> => {
      const connection = new Connection(port);
      // Keys come in no order: 389 and the number of keys have no common divisor.
      while (left-- > 0) await timeOf(connection, loads[(left * 389) % usedKeys]!);
      connection.close();
    };
    const before = performance.now();
    await Promise.all(Array.from({ length: busy.connections }, drive));
    return (count * 1_000) / (performance.now() - before);
  };
  await run(busy.count / 4);
  const before = await nodes.commands();
  const rate = await run(busy.count);
  const commands = (await nodes.commands()) - before;
  progress(`${Math.round(rate)} requests per second, ${commands} commands for ${busy.count}`);
  return (commands * 1_000) / busy.count;
}

/** How much longer a request takes whose money is idle on another node: the median in milliseconds. */
async function recalls(first: Target, second: Target): Promise<number> {
  const own = new Connection(second.port);
  const others = Array.from({ length: 3 }, () => new Connection(first.port));
  const times: number[] = [];
  const warm: number[] = [];
  for (let at = 0; at < sharedKeys; at += 1) {
    const key = keyOf(`shared-${at}`);
    await Promise.all(others.map((each) => timeOf(each, loadOf(first.port, key))));
    await know(own, second.port, key);
    await sleep(20);
    times.push(await timeOf(own, loadOf(second.port, key)));
    warm.push(await timeOf(own, loadOf(second.port)));
  }
  for (const connection of [own, ...others]) connection.close();
  return median(times) - median(warm);
}
