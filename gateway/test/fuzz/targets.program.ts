import { mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { fuzzTarget } from './fuzz-target.ts';
import { attempt, collectGarbage, type Finding } from './oracle.ts';
import { shrink } from './shrink.ts';
import type { FuzzTarget } from './target.ts';
import { fuzzTargets, folderOf } from './targets.ts';

/*
 * A process that fuzzes the targets named on its command line and reports by messages. An input may block it forever or
 * take all its memory, hence a process of its own.
 */

/** Its reports. */
export type Report =
  | { readonly type: 'alive' }
  | { readonly type: 'begun'; readonly target: string }
  | {
      readonly type: 'finding';
      readonly target: string;
      readonly kind: Finding['kind'];
      readonly message: string;
      readonly file: string;
    }
  | {
      readonly type: 'done';
      readonly target: string;
      readonly inputs: number;
      readonly cpu: number;
      readonly bytes: number;
      readonly suspects: readonly { readonly file: string; readonly excess: number }[];
    };

const shrinkMs = 5000;

function report(message: Report): void {
  process.send?.(message);
}

let nextAlive = 0;
function reportAlive(): void {
  if (Date.now() < nextAlive) return;
  nextAlive = Date.now() + 1000;
  report({ type: 'alive' });
}

async function fuzz(
  target: FuzzTarget,
  folder: string,
  seed: number,
  inputs: number,
  milliseconds: number,
): Promise<void> {
  report({ type: 'begun', target: target.name });
  const end = Date.now() + milliseconds;
  const current = openSync(join(folder, 'current'), 'w');
  const length = Buffer.alloc(4);
  const found: { finding: Finding; input: Buffer }[] = [];
  const result = await fuzzTarget(target, {
    seed,
    inputs: inputs > 0 ? inputs : Infinity,
    isGuided: inputs === 0,
    isOver: () => inputs === 0 && Date.now() >= end,
    onInput(input) {
      reportAlive();
      length.writeUInt32LE(input.length);
      writeSync(current, length, 0, 4, 0);
      writeSync(current, input, 0, input.length, 4);
    },
    onFinding: (finding, input) => found.push({ finding, input }),
  });
  let number = 0;
  const save = (input: Buffer): string => {
    const file = join(folder, `${folderOf(target)}-${(number += 1)}.txt`);
    writeFileSync(file, input);
    return file;
  };
  for (const { finding, input } of found) {
    const enough = Date.now() + shrinkMs;
    const isOver = () => {
      reportAlive();
      return Date.now() > enough;
    };
    const shortest = await shrink(target, input, finding.kind, isOver);
    const file = save(shortest);
    report({ type: 'finding', target: target.name, ...finding, file });
  }
  const { slowest, suspects } = result;
  report({
    type: 'done',
    target: target.name,
    inputs: result.inputs,
    ...slowest,
    suspects: suspects.map(({ input, excess }) => ({ file: save(input), excess })),
  });
}

/** One input once; the heap's limit, if any, is on the command line of Node. Prints what is in use without it. */
async function replay(target: FuzzTarget, input: Buffer): Promise<void> {
  for (const sample of target.samples) await attempt(target, sample);
  collectGarbage();
  console.log(getHeapStatistics().used_heap_size);
  const { finding, cpu } = await attempt(target, input);
  console.log(finding === null ? `${Math.round(cpu)} ms` : finding.message);
}

const [mode = '', folder = '', ...rest] = process.argv.slice(2);
const named = (name: string | undefined): FuzzTarget => {
  const target = fuzzTargets.find((each) => each.name === name);
  if (target === undefined) throw new Error(`no target is named '${name ?? ''}'`);
  return target;
};
if (mode === 'replay') await replay(named(rest[0]), readFileSync(folder));
if (mode === 'fuzz') {
  const [seed, inputs, milliseconds, ...names] = rest;
  mkdirSync(folder, { recursive: true });
  for (const name of names) {
    await fuzz(named(name), folder, Number(seed), Number(inputs), Number(milliseconds));
  }
}
