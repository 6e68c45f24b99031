import { setTimeout as wait } from 'node:timers/promises';
import { createRedisCounters } from '#limits/redis/redis-counters.ts';
import type { HoldRequest, RateLimit } from '#limits/index.ts';

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

export type Order =
  /** Asks repeatedly for this many milliseconds, `atOnce` each time. */
  | {
      readonly do: 'ask';
      readonly limits: readonly RateLimit[];
      readonly forMs: number;
      readonly atOnce: number;
    }
  | { readonly do: 'hold'; readonly request: Omit<HoldRequest, 'expiresAt'> }
  | { readonly do: 'clock' };

const [url = '', prefix = '', name = ''] = process.argv.slice(2);
const counters = await createRedisCounters({
  url,
  prefix,
  now: Date.now,
  monotonic: () => performance.now(),
  random: Math.random,
  spent: async () => new Map(),
  liveNodes: () => 1,
  log: { info: () => {}, error: () => {} },
  commandTimeoutMs: 10_000,
});

const clock = (): number => Number(process.hrtime.bigint()) / 1e6;
let count = 0;

async function askOnce(limits: readonly RateLimit[]): Promise<Asked> {
  const from = clock();
  const decision = await counters.checkRates({ id: `${name}-${(count += 1)}`, limits });
  const retryAfterMs = decision.admitted ? null : decision.retryAfterMs;
  return { from, to: clock(), admitted: decision.admitted, retryAfterMs };
}

async function ask({ limits, forMs, atOnce }: Order & { do: 'ask' }): Promise<Asked[]> {
  const seen: Asked[] = [];
  const end = clock() + forMs;
  do {
    seen.push(...(await Promise.all(Array.from({ length: atOnce }, () => askOnce(limits)))));
    await wait(10);
  } while (clock() < end);
  return seen;
}

async function obey(order: Order): Promise<unknown> {
  if (order.do === 'ask') return ask(order);
  if (order.do === 'clock') return Date.now();
  return counters.hold({ ...order.request, expiresAt: Date.now() + 60_000 });
}

process.on('message', (order: Order) => {
  void obey(order).then((response) => {
    if (counters.degraded) throw new Error('this node counts alone');
    process.send!(response);
  });
});
process.send!('ready');
