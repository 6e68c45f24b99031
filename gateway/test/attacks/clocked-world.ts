import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWorld, type World, type WorldOptions } from './world.ts';

const preload = new URL('../faults/clock.preload.mjs', import.meta.url).href;

/** Nodes whose wall clocks the test decides. */
export interface ClockedWorld extends World {
  /** All clocks run on from this time. */
  stepTo(time: string): void;
}

/** @param late milliseconds by which the clock of each node is late: one node for each number */
export async function openClockedWorld(
  options: Omit<WorldOptions, 'nodes' | 'environmentOf'> & {
    readonly late: readonly number[];
    readonly time: string;
  },
): Promise<ClockedWorld> {
  const { late, time } = options;
  const folder = mkdtempSync(join(tmpdir(), 'sluice-clocks-'));
  const fileOf = (node: number): string => join(folder, `offset-${node}`);
  const stepTo = (next: string): void => {
    for (const [node, ms] of late.entries()) {
      writeFileSync(`${fileOf(node)}.new`, String(Date.parse(next) - Date.now() - ms));
      // Never seen half written.
      renameSync(`${fileOf(node)}.new`, fileOf(node));
    }
  };
  stepTo(time);
  const world = await openWorld({
    ...options,
    nodes: late.length,
    environmentOf: (node) => ({
      NODE_OPTIONS: `--import ${preload}`,
      CLOCK_OFFSET_FILE: fileOf(node),
    }),
  });
  return {
    ...world,
    stepTo,
    async close() {
      await world.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
