import { Connection } from './connection.ts';
import { closedLoop, openLoop, openStreams, type Load } from './load.ts';
import { cpuSeconds, memoryBytes } from './processes.ts';
import { median, percentile, sleep } from './statistics.ts';
import type { Target } from './targets.ts';

/** Microseconds of processor time that the target spends on one request. */
export async function cpuPerRequest(
  target: Pick<Target, 'pid'>,
  load: Load,
  { connections, count }: { connections: number; count: number },
): Promise<number> {
  const before = cpuSeconds(target.pid);
  await closedLoop(load, connections, count);
  // Work after the responses belongs to them too.
  await sleep(300);
  return ((cpuSeconds(target.pid) - before) / count) * 1e6;
}

export interface Delays {
  /** From sending the request to the first byte of the body, microseconds. */
  readonly firstByte: Spread;
  /** From the upstream's sending the end of the response to the client's having it, microseconds. */
  readonly end: Spread;
  /** Microseconds of processor time that the target spent on one request. */
  readonly cpu: number;
}

export interface Spread {
  readonly p50: number;
  readonly p99: number;
}

/**
 * Nothing is counted before these seconds are over: connections are opened, and memory that the kernel or the collector
 * took back while idle is fetched again, which only shows how a target wakes up.
 */
const rampSeconds = 3;

/** The delays of requests at random moments, `rate` per second, during `seconds` after the ramp. */
export async function delays(
  target: Pick<Target, 'pid'>,
  load: Load,
  rate: number,
  seconds: number,
): Promise<Delays> {
  const before = cpuSeconds(target.pid);
  const all = await openLoop(load, rate, rampSeconds + seconds);
  const cpu = ((cpuSeconds(target.pid) - before) / all.length) * 1e6;
  const from = (all[0]?.sentAt ?? 0) + rampSeconds * 1e6;
  const seen = all.filter(({ sentAt }) => sentAt >= from);
  const firsts = seen.map(({ sentAt, firstByteAt }) => firstByteAt - sentAt);
  const ends = seen.flatMap(({ endAt, stampedAt }) =>
    stampedAt === null ? [] : endAt - stampedAt,
  );
  return { firstByte: spread(firsts), end: spread(ends), cpu };
}

/** What `added` has beyond `base`, percentile by percentile. */
export function difference(added: Spread, base: Spread): Spread {
  return { p50: added.p50 - base.p50, p99: added.p99 - base.p99 };
}

export function medianSpread(spreads: readonly Spread[]): Spread {
  return { p50: median(spreads.map(({ p50 }) => p50)), p99: median(spreads.map(({ p99 }) => p99)) };
}

export interface MemoryUse {
  /** Bytes of the idle process. */
  readonly idle: number;
  /** Bytes of the process with the first streams open. */
  readonly open: number;
  /** Bytes that each stream beyond those adds: without what a process grows by once, with its first work. */
  readonly perStream: number;
}

/** Memory of an idle process, with `first` open streams, and with `more` beyond them. */
export async function memory(
  target: Target,
  load: Load,
  first: number,
  more: number,
): Promise<MemoryUse> {
  await sleep(3_000);
  const idle = memoryBytes(target.pid);
  const some = await openStreams(load, first);
  await sleep(3_000);
  const open = memoryBytes(target.pid);
  const others = await openStreams(load, more);
  await sleep(3_000);
  const all = memoryBytes(target.pid);
  some.close();
  others.close();
  return { idle, open, perStream: (all - open) / more };
}

/** Bytes of memory that each of `count` idle connections adds after one response. */
export async function idleConnectionMemory(
  target: Target,
  load: Load,
  count: number,
): Promise<number> {
  const connections: Connection[] = [];
  const add = async (some: number): Promise<void> => {
    for (let at = 0; at < some; at += 100) {
      const next = Array.from(
        { length: Math.min(100, some - at) },
        () => new Connection(load.port),
      );
      connections.push(...next);
      await Promise.all(next.map((connection) => connection.exchange(load.request)));
    }
  };
  // The first of them pay for what all share.
  await add(count / 10);
  const before = memoryBytes(target.pid);
  await add(count);
  await sleep(3_000);
  const after = memoryBytes(target.pid);
  for (const connection of connections) connection.close();
  return (after - before) / count;
}

function spread(samples: readonly number[]): Spread {
  return { p50: percentile(samples, 0.5), p99: percentile(samples, 0.99) };
}
