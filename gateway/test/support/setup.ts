import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll } from 'vitest';
import {
  footprint,
  leftBehind,
  surroundings,
  surroundingsOfFile,
  type Footprint,
} from './footprint.ts';

/** Property tests try the same inputs in every run, so that a run is red only for what a change has done. */
fc.configureGlobal({ seed: Number(process.env['SLUICE_PROPERTY_SEED'] ?? '1') });

/** Connections of `fetch` end some seconds after their servers. */
const rounds = 500;

const before = new Map(surroundingsOfFile());
let begun: Footprint;

beforeAll(() => {
  begun = footprint();
  // Some libraries replace functions of Node when they are loaded, which happens once in a process.
  for (const [name, value] of surroundings())
    if (typeof value === 'function') before.set(name, value);
});

// The first hook to be declared is the last one to run.
// oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern which fixtures a hook wants
afterAll(async ({}, { file }) => {
  const { cpuSeconds, processes } = footprint();
  file.meta.footprint = {
    cpuSeconds: cpuSeconds - begun.cpuSeconds,
    processes: processes - begun.processes,
  };
  let left = leftBehind(before, surroundings());
  for (let round = 0; left.length > 0 && round < rounds; round += 1) {
    await wait(10);
    left = leftBehind(before, surroundings());
  }
  if (left.length > 0) throw new Error(`this file leaves behind: ${left.join(', ')}`);
});
