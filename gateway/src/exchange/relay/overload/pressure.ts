import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Logger } from '#observability/index.ts';

/** Too much work, or too little memory for it. */
export type PressureCause = 'lag' | 'memory';

/** Tells whether this process is overloaded. */
export interface Pressure {
  /** Empty: it is not. */
  readonly causes: readonly PressureCause[];
  /** The event loop's lag in the last sample: milliseconds. */
  readonly lag: number;
  /** Why a new request is refused now; null: it is admitted. Lag first keeps out large bodies only. */
  refusal(isLarge: boolean): PressureCause | null;
}

/** What is measured. */
export interface PressureSource {
  /** The event loop's lag since the last call: 99th percentile, milliseconds. */
  takeLag(): number;
  /** The used share of the heap's limit, 0 to 1. */
  heapShare(): number;
  /** The share of its memory limit that this process uses: 0 to 1, or more. */
  memoryShare(): number;
  /** No exchange is running, so no memory is released until there is work again. */
  isIdle(): boolean;
}

/** Milliseconds. */
const usualHighLag = 200;
/** Lag for this many milliseconds is an overload; a single long task is not. */
const lastingMs = 2_000;
/** After this many milliseconds large bodies cannot be the cause, so small requests are refused as well. */
const stubbornMs = 10_000;
const highHeapShare = 0.9;
const highMemoryShare = 0.9;
const sampleMs = 500;
/** The resolution of the measurement in milliseconds: the length of an idle turn, which counts as no lag. */
const resolution = 20;

/** Judges one sample after the other. `now` is monotonic milliseconds. */
export function createPressure(
  source: PressureSource,
  highLag = usualHighLag,
): Pressure & { sample(now: number): void } {
  let lag = 0;
  let laggingSince: number | null = null;
  let lagFor = 0;
  let isFull = false;
  return {
    get causes() {
      const causes: PressureCause[] = [];
      if (lagFor >= lastingMs) causes.push('lag');
      if (isFull) causes.push('memory');
      return causes;
    },
    get lag() {
      return lag;
    },
    refusal(isLarge) {
      if (isFull) return 'memory';
      return lagFor >= (isLarge ? lastingMs : stubbornMs) ? 'lag' : null;
    },
    sample(now) {
      lag = Math.max(0, source.takeLag());
      if (lag <= highLag) laggingSince = null;
      else laggingSince ??= now;
      lagFor = laggingSince === null ? 0 : now - laggingSince;
      const isHigh = source.memoryShare() > highMemoryShare || source.heapShare() > highHeapShare;
      // An idle process collects no garbage. If memory kept out the first request, nothing would ever free it.
      isFull = isHigh && !source.isIdle();
    },
  };
}

export interface PressureOptions {
  /** Milliseconds. */
  readonly monotonic: () => number;
  /** Bytes that this process may have in memory. */
  readonly memoryLimit: number;
  readonly isIdle: () => boolean;
  /** Milliseconds of lag from which the process is overloaded. Default: 200. */
  readonly highLag?: number | undefined;
  /** Called after each sample, with monotonic milliseconds. */
  readonly onSample: (causes: readonly PressureCause[], now: number) => void;
}

/** The pressure on this process, sampled twice a second until closed. */
export function watchPressure(options: PressureOptions): Pressure & { close(): void } {
  const { monotonic, memoryLimit, isIdle, highLag, onSample } = options;
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  const source: PressureSource = {
    takeLag() {
      const lag = delay.percentile(99) / 1e6 - resolution;
      delay.reset();
      return lag;
    },
    heapShare() {
      const { used_heap_size: usedBytes, heap_size_limit: limit } = getHeapStatistics();
      return usedBytes / limit;
    },
    memoryShare() {
      // Memory that is allocated for buffers counts even before it is used.
      const { total_heap_size: heap, external_memory: external } = getHeapStatistics();
      return Math.max(residentBytes(), external + heap) / memoryLimit;
    },
    isIdle,
  };
  const pressure = createPressure(source, highLag);
  const timer = setInterval(() => {
    const now = monotonic();
    pressure.sample(now);
    onSample(pressure.causes, now);
  }, sampleMs).unref();
  return {
    get causes() {
      return pressure.causes;
    },
    get lag() {
      return pressure.lag;
    },
    refusal: pressure.refusal,
    close() {
      clearInterval(timer);
      delay.disable();
    },
  };
}

/** 0 if it cannot be read: the system tells it in a file, and the process may have no descriptor left. */
function residentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return 0;
  }
}

type Log = Pick<Logger, 'info' | 'warn'>;
/** Called with each sample of `watchPressure`: the causes, and monotonic milliseconds. */
type Report<Cause> = (causes: readonly Cause[], now: number) => void;

/** A cause that comes back within this many milliseconds counts as not interrupted. */
const calmMs = 10_000;

const overloads: Readonly<Record<PressureCause, string>> = {
  lag: 'the event loop is lagging; large bodies are refused',
  memory: 'memory is nearly exhausted; new requests are refused',
};

/** Why nothing that costs something is admitted. */
type RefusalReason = PressureCause | 'version' | 'journal' | 'leases';

const refusals: Readonly<Record<RefusalReason, string>> = {
  version: 'the database needs a newer version of sluice',
  journal: 'their usage cannot be written',
  leases: 'the database leases no money, and no lease is left',
  lag: 'the event loop is lagging',
  memory: 'memory is nearly exhausted',
};

/**
 * Reports overload: two lines in the log for each period.
 * @param refusals how many requests have been refused since the start, by cause
 */
export function createPressureReport(
  log: Log,
  refusals: Readonly<Record<PressureCause, number>>,
): Report<PressureCause> {
  return createReport((cause: PressureCause) => {
    log.warn(`overloaded: ${overloads[cause]}`, { component: 'admission', detail: cause });
    const before = refusals[cause];
    return (durationMs) =>
      log.info('no longer overloaded', {
        component: 'admission',
        detail: cause,
        durationMs,
        count: refusals[cause] - before,
      });
  });
}

/** Reports that nothing that costs something is admitted: two lines in the log for each period. */
export function createRefusalReport(log: Log): Report<RefusalReason> {
  return createReport((reason: RefusalReason) => {
    log.warn(`refusing all requests that cost something: ${refusals[reason]}`, {
      component: 'admission',
      detail: reason,
    });
    return (durationMs) =>
      log.info('admitting requests that cost something again', {
        component: 'admission',
        detail: reason,
        durationMs,
      });
  });
}

/** @param begin called when a period of a cause begins; what it returns is called when it has been over for a while */
function createReport<Cause>(begin: (cause: Cause) => (durationMs: number) => void): Report<Cause> {
  const running = new Map<
    Cause,
    { readonly since: number; last: number; readonly end: (durationMs: number) => void }
  >();
  return function report(causes, now) {
    for (const cause of causes) {
      const period = running.get(cause);
      if (period === undefined) running.set(cause, { since: now, last: now, end: begin(cause) });
      else period.last = now;
    }
    for (const [cause, { since, last, end }] of running) {
      if (now - last < calmMs) continue;
      running.delete(cause);
      end(Math.round(last - since));
    }
  };
}
