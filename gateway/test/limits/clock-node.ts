import { setTimeout as wait } from 'node:timers/promises';
import { createRedisRates } from '#limits/redis/redis-rates.ts';
import type { RateLimit } from '#limits/index.ts';

/*
 * A node in a process of its own, whose wall clock may be wrong (`../faults/clock.preload.mjs`). What it saw is
 * reported by the machine's monotonic clock, which all processes share.
 */

export interface Asked {
  /** Milliseconds; Redis decided between the two. */
  readonly from: number;
  readonly to: number;
  readonly admitted: boolean;
  readonly retryAfterMs: number | null;
}

/** Asks repeatedly for this many milliseconds, `atOnce` each time. */
export interface Order {
  readonly limits: readonly RateLimit[];
  readonly forMs: number;
  readonly atOnce: number;
}

const [url = '', prefix = '', name = ''] = process.argv.slice(2);
const rates = await createRedisRates({
  url,
  prefix,
  now: Date.now,
  monotonic: () => performance.now(),
  random: Math.random,
  liveNodes: () => 1,
  log: { info: () => {}, error: () => {} },
  commandTimeoutMs: 10_000,
});

const clock = (): number => Number(process.hrtime.bigint()) / 1e6;
let count = 0;

async function askOnce(limits: readonly RateLimit[]): Promise<Asked> {
  const from = clock();
  const decision = await rates.checkRates({ id: `${name}-${(count += 1)}`, limits });
  const retryAfterMs = decision.admitted ? null : decision.retryAfterMs;
  return { from, to: clock(), admitted: decision.admitted, retryAfterMs };
}

async function ask({ limits, forMs, atOnce }: Order): Promise<Asked[]> {
  const seen: Asked[] = [];
  const end = clock() + forMs;
  do {
    seen.push(...(await Promise.all(Array.from({ length: atOnce }, () => askOnce(limits)))));
    await wait(10);
  } while (clock() < end);
  return seen;
}

process.on('message', (order: Order) => {
  void ask(order).then((response) => {
    if (rates.degraded.length > 0) throw new Error('this node counts alone');
    process.send!(response);
  });
});
process.send!('ready');
