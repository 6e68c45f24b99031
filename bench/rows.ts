import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventsPerStream, protocols, type Protocol } from './prepared-responses.ts';
import type { Bench, Settings } from './bench.ts';
import { Connection } from './connection.ts';
import { measureDelays } from './delays.ts';
import { measureImages } from './images.ts';
import { closedLoop } from './load.ts';
import { cpuPerRequest, idleConnectionMemory, memory } from './measure.ts';
import { measureLeases, measureNodes } from './nodes.ts';
import { measuredCore, outputLine, spawnPinned, stop } from './processes.ts';
import type { ResultRow } from './report.ts';
import { loadFor, modelOf, onlyModelOf } from './requests.ts';
import { seedUsage } from './seed-usage.ts';
import { seed } from './seed.ts';
import { median, sleep } from './statistics.ts';
import { spawnGateway, startTarget, type TargetName } from './targets.ts';
import { measureTasks } from './tasks.ts';
import { measureUsageLog } from './usage-log.ts';

/** Enough that background clean-up during a measurement is not charged to a few requests. */
const plainRun = { connections: 32, count: 24_000 } as const;
const burstRun = { connections: 32, count: 4_000 } as const;
const warmUpRequests = 80_000;

/** Milliseconds between the events of a measured stream: far enough apart that each is its own packet. */
const gap = 5;

/** The rows by the name that `--rows` takes, in the order of the table. */
export const rows: Readonly<Record<string, (bench: Bench) => Promise<ResultRow[]>>> = {
  async json({ settings, targets, upstream }) {
    await upstream.pace({ gap: 0 });
    const values = await alternate(settings, targets, (target) =>
      cpuPerRequest(target, plainLoad(target.port), plainRun),
    );
    const title = 'CPU per request, not streamed, 1.5 KB in, 0.7 KB out';
    return [{ title, unit: 'µs', values: medians(values), bound: { timesNginx: 4 } }];
  },

  async stream({ settings, targets, upstream }) {
    await upstream.pace({ gap });
    const run = { connections: 64, count: 640 };
    const values = await alternate(settings, targets, (target) =>
      cpuPerRequest(target, streamLoad(target.port, settings.protocol), run),
    );
    const title = `CPU per streamed answer of ${eventsPerStream} events, ${settings.protocol}`;
    return [{ title, unit: 'µs', values: medians(values), bound: { timesNginx: 1.5 } }];
  },

  async burst({ settings, targets, upstream }) {
    await upstream.pace({ gap: 0 });
    const values = await alternate(settings, targets, (target) =>
      cpuPerRequest(target, streamLoad(target.port, settings.protocol), burstRun),
    );
    const title = `CPU per burst of ${eventsPerStream} events in one write, ${settings.protocol}`;
    return [{ title, unit: 'µs', values: medians(values), bound: { timesBaseline: 3 } }];
  },

  async pairs({ settings, targets, upstream }) {
    const own = targets.filter(({ name }) => name === 'nginx' || name === 'gateway');
    await upstream.pace({ gap: 1 });
    for (const { port, name } of own) {
      if (name !== 'gateway') continue;
      settings.progress('warming up conversion');
      for (const pair of pairs) await closedLoop(pairLoad(port, pair), 64, 640);
    }
    await upstream.pace({ gap });
    const run = { connections: 64, count: 320 };
    const plain = new Map<Protocol, Partial<Record<TargetName, number>>>();
    const results: ResultRow[] = [];
    for (const pair of pairs) {
      const { client } = pair;
      // Without a gateway the upstream responds in the client's protocol, whoever is called.
      const others = own.filter(({ name }) => name !== 'gateway');
      if (!plain.has(client)) {
        const values = await alternate(settings, others, (target) =>
          cpuPerRequest(target, streamLoad(target.port, client), run),
        );
        plain.set(client, medians(values));
      }
      const converting = own.filter(({ name }) => name === 'gateway');
      const values = await alternate(settings, converting, (target) =>
        cpuPerRequest(target, pairLoad(target.port, pair), run),
      );
      results.push({
        title: `CPU per streamed answer of ${eventsPerStream} events, ${client} to ${pair.upstream}`,
        unit: 'µs',
        values: { ...plain.get(client), ...medians(values) },
        bound: { timesNginx: 4 },
      });
    }
    return results;
  },

  delays: measureDelays,

  async memory({ settings, upstream }) {
    const idle: Partial<Record<TargetName, number>> = {};
    const open: Partial<Record<TargetName, number>> = {};
    const perStream: Partial<Record<TargetName, number>> = {};
    const perLarge: Partial<Record<TargetName, number>> = {};
    const perConnection: Partial<Record<TargetName, number>> = {};
    const { protocol } = settings;
    // Irrelevant for the `copy` target, which also has too few sockets for all these clients.
    for (const name of settings.targets.filter((name) => name !== 'copy')) {
      settings.progress(`memory of ${name}`);
      const start = async () => {
        const target = await startTarget[name](upstream.port, temporaryDirectory());
        await upstream.pace({ gap: 0 });
        await closedLoop(plainLoad(target.port), 8, 200);
        await upstream.pace({ gap: 20_000 });
        return target;
      };
      const first = await start();
      const measured = await memory(first, streamLoad(first.port, protocol), 1_000, 2_000);
      idle[name] = measured.idle / 1024 / 1024;
      open[name] = measured.open / 1024 / 1024;
      perStream[name] = measured.perStream / 1024;
      await first.stop();
      const second = await start();
      const large = { protocol, stream: true, size: 300_000, model: modelOf(protocol) };
      const ofLarge = await memory(second, loadFor(second.port, large), 200, 400);
      perLarge[name] = ofLarge.perStream / 1024;
      await second.stop();
      const third = await start();
      await upstream.pace({ gap: 0 });
      const connections = await idleConnectionMemory(third, plainLoad(third.port), 10_000);
      perConnection[name] = connections / 1024;
      await third.stop();
    }
    const row = (title: string, unit: 'KiB' | 'MiB', values: typeof idle, atMost?: number) => ({
      title,
      unit,
      values,
      bound: atMost === undefined ? null : { atMost },
    });
    return [
      row('memory per open stream beyond the first 1 000', 'KiB', perStream, 32),
      row('memory with 1 000 open streams', 'MiB', open),
      row('memory per open stream of a request of 300 KB', 'KiB', perLarge),
      row('memory per idle connection, 10 000 of them', 'KiB', perConnection),
      row('memory of the idle process', 'MiB', idle, 200),
    ];
  },

  async large({ settings, targets, upstream }) {
    await upstream.pace({ gap: 0 });
    const run = { connections: 8, count: 800 };
    const wanted = { protocol: 'chat', stream: false, size: 300_000 } as const;
    const values = await alternate(settings, targets, (target) => {
      // Only the gateway knows the other name; it then has to write the upstream's into the body.
      const model = target.name === 'gateway' ? 'bench-renamed' : 'bench';
      return cpuPerRequest(target, loadFor(target.port, { ...wanted, model }), run);
    });
    const images = await alternate(settings, targets, (target) => {
      const model = target.name === 'gateway' ? 'bench-renamed' : 'bench';
      const load = loadFor(target.port, { ...wanted, size: 1_500, image: 10_000_000, model });
      return cpuPerRequest(target, load, { connections: 4, count: 80 });
    });
    const title = (size: string) => `CPU per request of ${size}, only the model name changed`;
    return [
      { title: title('300 KB'), unit: 'µs', values: medians(values), bound: { atMost: 1_000 } },
      { title: title('10 MB, an image'), unit: 'µs', values: medians(images), bound: null },
    ];
  },

  images: measureImages,

  async start({ settings, upstream }) {
    const title = 'start to first answer, 100 000 keys, 1 000 000 usage rows';
    const row = { title, unit: 's', bound: { atMost: 2 } } as const;
    if (!settings.targets.includes('gateway')) return [{ ...row, values: {} }];
    await upstream.pace({ gap: 0 });
    const directory = temporaryDirectory();
    settings.progress('seeding');
    const first = await startTarget.gateway(upstream.port, directory);
    await closedLoop(plainLoad(first.port), 1, 1);
    await sleep(1_000);
    await first.stop();
    seed(directory, 100_000, 1_000_000);
    const seconds: number[] = [];
    for (let round = 0; round < 3; round++) {
      const before = performance.now();
      const child = spawnGateway(upstream.port, directory);
      const [, port] = await outputLine(child, /listening on https?:\/\/[^:]+:(\d+)/);
      const load = plainLoad(Number(port));
      await untilAnswered(Number(port), load.request);
      seconds.push((performance.now() - before) / 1000);
      settings.progress(`started in ${seconds.at(-1)?.toFixed(2)} s`);
      await stop(child);
    }
    return [{ ...row, values: { gateway: median(seconds) } }];
  },

  async admission() {
    const script = path.join(import.meta.dirname, 'admission.ts');
    const child = spawnPinned(measuredCore, process.execPath, [script]);
    const [line] = await outputLine(child, /^\{.*\}$/);
    const { microseconds, bytes } = JSON.parse(line) as { microseconds: number; bytes: number };
    const title = 'rates, hold and settlement of a request, 100 000 keys, 10 000 users';
    const memory = 'memory of their counters';
    const gateway = bytes / 1024 / 1024;
    return [
      { title, unit: 'µs', values: { gateway: microseconds }, bound: { atMost: 20 } },
      { title: memory, unit: 'MiB', values: { gateway }, bound: { atMost: 200 } },
    ];
  },

  nodes: (bench) => measureNodes(bench, temporaryDirectory),

  leases: (bench) => measureLeases(bench, temporaryDirectory),

  tasks: (bench) => measureTasks(bench, temporaryDirectory()),

  async usage({ settings, upstream }) {
    const count = Number(process.env['BENCH_USAGE_ROWS'] ?? 10_000_000);
    await upstream.pace({ gap: 0 });
    const directory = temporaryDirectory();
    const target = await startTarget.gateway(upstream.port, directory);
    await closedLoop(plainLoad(target.port), 1, 1);
    await sleep(1_000);
    await target.stop();
    settings.progress(`seeding ${count} usage rows`);
    seedUsage(directory, count);
    return measureUsageLog(directory, count, settings.progress);
  },
};

/** What is measured unless rows are named: seeding ten million rows takes minutes and 7 GB. */
export const usualRows = Object.keys(rows).filter((name) => name !== 'usage');

/** A folder that is removed when the run ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'sluice-bench-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Lets just-in-time compilers finish before anything is measured. */
export async function warmUp({ settings, targets, upstream }: Bench): Promise<void> {
  for (const target of targets) {
    settings.progress(`warming up ${target.name}`);
    await upstream.pace({ gap: 0 });
    await closedLoop(plainLoad(target.port), 32, warmUpRequests);
    await upstream.pace({ gap: 1 });
    await closedLoop(streamLoad(target.port, settings.protocol), 64, 1_920);
  }
}

interface Pair {
  readonly client: Protocol;
  readonly upstream: Protocol;
}

/** Every client protocol with every other upstream protocol. */
const pairs: readonly Pair[] = protocols.flatMap((client) =>
  protocols.filter((upstream) => upstream !== client).map((upstream) => ({ client, upstream })),
);

const pairLoad = (port: number, { client, upstream }: Pair) =>
  loadFor(port, { protocol: client, stream: true, size: 1_500, model: onlyModelOf(upstream) });

/** Not streamed, 1.5 KB in, 0.7 KB out. */
const plainLoad = (port: number) =>
  loadFor(port, { protocol: 'chat', stream: false, size: 1_500, model: 'bench' });

const streamLoad = (port: number, protocol: Protocol) =>
  loadFor(port, { protocol, stream: true, size: 1_500, model: modelOf(protocol) });

/** Measures one target after the other, `rounds` times, so that a slow minute hits all of them. */
async function alternate<Measured extends { readonly name: string }, Value>(
  { rounds, progress }: Settings,
  targets: readonly Measured[],
  measure: (target: Measured) => Promise<Value>,
): Promise<Map<Measured['name'], Value[]>> {
  const values = new Map<Measured['name'], Value[]>();
  for (let round = 1; round <= rounds; round++) {
    for (const target of targets) {
      const value = await measure(target);
      values.set(target.name, [...(values.get(target.name) ?? []), value]);
      progress(`round ${round}: ${target.name} ${JSON.stringify(value, rounded)}`);
    }
  }
  return values;
}

const rounded = (_: string, value: unknown) =>
  typeof value === 'number' ? Math.round(value * 10) / 10 : value;

function medians<Name extends string>(
  values: ReadonlyMap<Name, readonly number[]>,
): Partial<Record<Name, number>> {
  const entries = [...values].map(([name, samples]) => [name, median(samples)]);
  return Object.fromEntries(entries) as Partial<Record<Name, number>>;
}

async function untilAnswered(port: number, request: Buffer): Promise<void> {
  for (;;) {
    const connection = new Connection(port);
    const status = await connection.exchange(request).then(
      (seen) => seen.status,
      () => 0,
    );
    connection.close();
    if (status === 200) return;
    await sleep(5);
  }
}
