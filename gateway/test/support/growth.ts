import { expect } from 'vitest';

/** Time below which the clock and the collector say more than the work does. Milliseconds of CPU. */
const measurable = 6;
const rounds = 3;
/** The larger input is this many times the smaller one. */
const factor = 4;
/** Linear work grows fourfold, quadratic work sixteenfold. */
const mostGrowth = 8;

/** Of this thread, so that no neighbour's work counts. */
export function cpuMilliseconds(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Doubles an input until the work with it can be measured, then takes four times as much: it takes at most eight times
 * as long then. Work that takes no measurable time at `largest` is fast enough.
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

/**
 * Work that takes as long as quadratic work may be that of a slow machine. Then a quarter of the input takes at least an
 * eighth of the time.
 * @param prepare makes the work for a part of the input, 1 or less
 * @param quick milliseconds of CPU that need no such proof
 */
export function assertQuickOrLinear(prepare: (part: number) => () => unknown, quick: number): void {
  const time = cpuMilliseconds(prepare(1));
  if (time < quick) return;
  expect(time / cpuMilliseconds(prepare(1 / factor)), `${time} ms`).toBeLessThan(mostGrowth);
}

/**
 * The least time of several for either size, as noise only adds to it. Some systems count in steps of several
 * milliseconds, so the smaller time is at least what can be measured.
 */
function growthAt(prepare: (size: number) => () => unknown, size: number): number {
  let small = Infinity;
  let large = Infinity;
  let growth = Infinity;
  for (let round = 0; round < rounds; round += 1) {
    small = Math.min(small, cpuMilliseconds(prepare(size)));
    large = Math.min(large, cpuMilliseconds(prepare(factor * size)));
    growth = large / Math.max(small, measurable);
    if (growth < mostGrowth) break;
  }
  return growth;
}
