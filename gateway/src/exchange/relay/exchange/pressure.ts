import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

/** Too much to do, or too little memory to do it in. */
export type PressureCause = 'lag' | 'memory';

/** Whether this process has more to do than it can. */
export interface Pressure {
  /** Empty: it keeps up. */
  readonly causes: readonly PressureCause[];
  /** Why a new request is refused now; null: it is not. Lag shuts out large bodies first. */
  refusal(isLarge: boolean): PressureCause | null;
}

/** What is measured. */
export interface PressureSource {
  /** The event loop's lag since the last call: 99th percentile, milliseconds. */
  takeLag(): number;
  /** The part of the heap's limit that is used, 0 to 1. */
  heapShare(): number;
  /** The part that this process has in memory, of what it may have there: 0 to 1, or more. */
  memoryShare(): number;
  /** Nothing is under way: what is in memory stays there until there is work again. */
  isIdle(): boolean;
}

const highLag = 200;
/** A single long task is not an overload; lag that lasts for this many milliseconds is. */
const lastingMs = 2_000;
/** After this many milliseconds large bodies are not the cause: small requests are refused as well. */
const stubbornMs = 10_000;
const highHeapShare = 0.9;
const highMemoryShare = 0.9;
const sampleMs = 500;
/** How finely lag is measured: the length of one idle turn, which counts as no lag. Milliseconds. */
const resolution = 20;

/** Judges one sample after the other. `now` is monotonic, in milliseconds. */
export function createPressure(source: PressureSource): Pressure & { sample(now: number): void } {
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
    refusal(isLarge) {
      if (isFull) return 'memory';
      return lagFor >= (isLarge ? lastingMs : stubbornMs) ? 'lag' : null;
    },
    sample(now) {
      if (source.takeLag() <= highLag) laggingSince = null;
      else laggingSince ??= now;
      lagFor = laggingSince === null ? 0 : now - laggingSince;
      const isHigh = source.memoryShare() > highMemoryShare || source.heapShare() > highHeapShare;
      // Without work nothing is collected, so memory never shuts the last one out.
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
  /** After each sample, with monotonic milliseconds. */
  readonly onSample: (causes: readonly PressureCause[], now: number) => void;
}

/** The pressure on this process, sampled twice a second until closed. */
export function watchPressure(options: PressureOptions): Pressure & { close(): void } {
  const { monotonic, memoryLimit, isIdle, onSample } = options;
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  const pressure = createPressure({
    takeLag() {
      const lag = delay.percentile(99) / 1e6 - resolution;
      delay.reset();
      return lag;
    },
    heapShare() {
      const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
      return used / limit;
    },
    memoryShare() {
      // What buffers have been promised counts before it is touched.
      const { rss, external, heapTotal } = process.memoryUsage();
      return Math.max(rss, external + heapTotal) / memoryLimit;
    },
    isIdle,
  });
  const timer = setInterval(() => {
    const now = monotonic();
    pressure.sample(now);
    onSample(pressure.causes, now);
  }, sampleMs).unref();
  return {
    get causes() {
      return pressure.causes;
    },
    refusal: pressure.refusal,
    close() {
      clearInterval(timer);
      delay.disable();
    },
  };
}
