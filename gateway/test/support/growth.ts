import { expect } from 'vitest';

/** Time below which the clock and the collector say more than the work does. Milliseconds of CPU. */
const measurable = 6;
const rounds = 6;
const mostGrowth = 2.5;

/** Of this thread, so that no neighbour's work counts. */
export function cpuMilliseconds(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Doubles an input until the work with it can be measured, and once more: it takes at most two and a half times as
 * long then. Work that takes no measurable time at `largest` is fast enough.
 * @param prepare makes the work for an input of a size; its own time does not count
 */
export function expectLinear(
  prepare: (size: number) => () => unknown,
  { smallest = 512, largest = 1_048_576, label = '' } = {},
): void {
  for (let size = smallest; size <= largest; size *= 2) {
    const work = prepare(size);
    if (cpuMilliseconds(work) < measurable || cpuMilliseconds(work) < measurable) continue;
    const growth = growthAt(prepare, size);
    expect(growth, `${label} at ${size}`).toBeLessThan(mostGrowth);
    return;
  }
}

/** The least time of several for either size, as noise only adds to it. */
function growthAt(prepare: (size: number) => () => unknown, size: number): number {
  let once = Infinity;
  let twice = Infinity;
  for (let round = 0; round < rounds; round += 1) {
    once = Math.min(once, cpuMilliseconds(prepare(size)));
    twice = Math.min(twice, cpuMilliseconds(prepare(2 * size)));
    if (round > 1 && twice / once < mostGrowth) break;
  }
  return twice / once;
}
