import type { Ask } from './ask.ts';

export interface Settlement {
  readonly id: string;
  readonly meters: readonly string[];
  readonly spent: bigint;
  /** Milliseconds of the monotonic clock. */
  readonly endedAt: number;
}

/** How long Redis remembers an ended id, in milliseconds. */
const markMs = 900_000;
/** Settlements kept for Redis. Beyond this number they are dropped, and Redis reads the totals from the database. */
const mostWaiting = 100_000;
const perBatch = 200;
const retryMs = 1_000;

export interface Settlements {
  /** Delivers at once, or when Redis is back. */
  add(settlement: Settlement): void;
  /** Delivers all waiting settlements, in order. @throws if Redis fails; undelivered settlements keep waiting. */
  deliver(ask: Ask): Promise<void>;
  /** The number of waiting settlements. */
  readonly waiting: number;
  /** Waits for deliveries in progress. */
  close(): Promise<void>;
}

export interface SettlementsOptions {
  readonly ask: Ask;
  readonly isUp: () => boolean;
  readonly monotonic: () => number;
  /** The keys of a meter: its hash and its holds. */
  readonly meterKeys: (meter: string) => readonly [string, string];
  readonly endedKey: (id: string) => string;
}

/** Delivers each settlement to Redis at least once; delivery is idempotent. */
export function createSettlements({
  ask,
  isUp,
  monotonic,
  meterKeys,
  endedKey,
}: SettlementsOptions): Settlements {
  let waiting: Settlement[] = [];
  /** Meters whose settlements were dropped. */
  const stale = new Set<string>();
  const onTheWay = new Set<Promise<void>>();
  let retry: NodeJS.Timeout | null = null;

  const send = async (settlement: Settlement, ask: Ask): Promise<void> => {
    const { id, meters, spent, endedAt } = settlement;
    const age = Math.max(0, Math.round((monotonic() - endedAt) * 1_000));
    await ask(
      'settle',
      [endedKey(id), ...meters.flatMap(meterKeys)],
      [id, String(spent), String(age), String(markMs)],
    );
  };

  const keep = (settlement: Settlement): void => {
    waiting.push(settlement);
    if (waiting.length > mostWaiting) {
      for (const dropped of waiting.splice(0, perBatch)) {
        for (const meter of dropped.meters) stale.add(meter);
      }
    }
    retry ??= setTimeout(tryAgain, retryMs).unref();
  };

  const track = (delivery: Promise<void>): void => {
    onTheWay.add(delivery);
    void delivery.finally(() => onTheWay.delete(delivery));
  };

  const tryAgain = (): void => {
    retry = null;
    if (waiting.length === 0) return;
    if (isUp()) track(deliver(ask).catch(() => {}));
    retry = setTimeout(tryAgain, retryMs).unref();
  };

  const deliver = async (ask: Ask): Promise<void> => {
    for (const meter of stale) {
      await ask('forget', [meterKeys(meter)[0]], []);
      stale.delete(meter);
    }
    while (waiting.length > 0) {
      const batch = waiting.slice(0, perBatch);
      waiting = waiting.slice(perBatch);
      const outcomes = await Promise.allSettled(batch.map((settlement) => send(settlement, ask)));
      const failed = batch.filter((_, at) => outcomes[at]?.status === 'rejected');
      waiting = [...failed, ...waiting];
      if (failed.length > 0) throw new Error(`${failed.length} settlements were not delivered`);
    }
  };

  return {
    add(settlement) {
      if (!isUp()) keep(settlement);
      else track(send(settlement, ask).catch(() => keep(settlement)));
    },
    deliver,
    get waiting() {
      return waiting.length;
    },
    async close() {
      await Promise.all(onTheWay);
      if (retry !== null) clearTimeout(retry);
      retry = null;
    },
  };
}
