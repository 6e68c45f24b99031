import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createPressure, type Pressure, watchPressure } from './pressure.ts';

let lag: number;
let heap: number;
let memory: number;
let isIdle: boolean;
let pressure: Pressure & { sample(now: number): void };
beforeEach(() => {
  [lag, heap, memory, isIdle] = [0, 0.5, 0.5, false];
  pressure = createPressure({
    takeLag: () => lag,
    heapShare: () => heap,
    memoryShare: () => memory,
    isIdle: () => isIdle,
  });
});

/** Why a small request and one with a large body are refused. */
function sample(now: number) {
  pressure.sample(now);
  return [pressure.refusal(false), pressure.refusal(true)];
}
const none = [null, null];

describe('R-24 lag', () => {
  test('counts when it lasts for two seconds', () => {
    expect(sample(0)).toEqual(none);
    lag = 201;
    expect([500, 1_000, 2_000].map(sample)).toEqual([none, none, none]);
    // Once in between it was well.
    lag = 200;
    expect(sample(2_400)).toEqual(none);
    lag = 5_000;
    expect([2_500, 4_499].map(sample)).toEqual([none, none]);
    expect(pressure.causes).toEqual([]);
    sample(4_500);
    expect(pressure.causes).toEqual(['lag']);
    lag = 3;
    expect(sample(5_000)).toEqual(none);
    expect(pressure.causes).toEqual([]);
  });

  test('shuts out large bodies first, and small requests only if it lasts without them', () => {
    lag = 300;
    sample(0);
    expect(sample(2_000)).toEqual([null, 'lag']);
    expect(sample(9_999)).toEqual([null, 'lag']);
    expect(sample(10_000)).toEqual(['lag', 'lag']);
  });
});

describe('R-24 memory', () => {
  test.each(['heap', 'memory'])('%s above nine tenths shuts out everything', (which) => {
    const set = (share: number): void => {
      if (which === 'heap') heap = share;
      else memory = share;
    };
    set(0.9);
    expect(sample(0)).toEqual(none);
    set(0.91);
    expect(sample(0)).toEqual(['memory', 'memory']);
    expect(pressure.causes).toEqual(['memory']);
    // While nothing is under way nothing is collected either.
    isIdle = true;
    expect(sample(0)).toEqual(none);
    expect(pressure.causes).toEqual([]);
  });
});

test('uses the heap alone if the system does not tell the memory of the process', () => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
  // It is read from a file, for which a process without free descriptors has none.
  const refuse = () => {
    throw new Error('EMFILE: too many open files, uv_resident_set_memory');
  };
  vi.spyOn(process, 'memoryUsage').mockImplementation(refuse);
  process.memoryUsage.rss = refuse;
  const seen: (readonly string[])[] = [];
  const watch = (memoryLimit: number) =>
    watchPressure({
      monotonic: () => 0,
      memoryLimit,
      isIdle: () => false,
      onSample: (causes) => seen.push(causes),
    });
  const roomy = watch(2 ** 50);
  vi.advanceTimersByTime(500);
  roomy.close();
  const narrow = watch(1);
  vi.advanceTimersByTime(500);
  narrow.close();
  expect(seen).toEqual([[], ['memory']]);
});
