import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

/** Whether this process has more to do than it can. */
export interface Pressure {
  readonly isHigh: boolean;
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
/** A single long task is no overload; lag that lasts for so many milliseconds is. */
const lastingMs = 2_000;
const highHeapShare = 0.9;
const highMemoryShare = 0.9;
const sampleMs = 500;
/** How finely lag is measured: the length of one idle turn, which counts as no lag. Milliseconds. */
const resolution = 20;

/** Judges one sample after the other. `now` is monotonic, in milliseconds. */
export function createPressure(source: PressureSource): Pressure & { sample(now: number): void } {
  let laggingSince: number | null = null;
  let isHigh = false;
  return {
    get isHigh() {
      return isHigh;
    },
    sample(now) {
      if (source.takeLag() <= highLag) laggingSince = null;
      else laggingSince ??= now;
      const isLagging = laggingSince !== null && now - laggingSince >= lastingMs;
      // Without work nothing is collected, so memory alone never shuts the last one out.
      const isFull = source.memoryShare() > highMemoryShare && !source.isIdle();
      isHigh = isLagging || isFull || source.heapShare() > highHeapShare;
    },
  };
}

export interface PressureOptions {
  /** Milliseconds. */
  readonly monotonic: () => number;
  /** Bytes that this process may have in memory. */
  readonly memoryLimit: number;
  readonly isIdle: () => boolean;
}

/** The pressure on this process, sampled twice a second until closed. */
export function watchPressure(options: PressureOptions): Pressure & { close(): void } {
  const { monotonic, memoryLimit, isIdle } = options;
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
  const timer = setInterval(() => pressure.sample(monotonic()), sampleMs).unref();
  return {
    get isHigh() {
      return pressure.isHigh;
    },
    close() {
      clearInterval(timer);
      delay.disable();
    },
  };
}
