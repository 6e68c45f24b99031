import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fuzzTarget } from './fuzz-target.ts';
import { grownCases } from './grown-cases.ts';
import { runs } from '../support/runs.ts';
import { attempt, type Finding } from './oracle.ts';
import { shrink } from './shrink.ts';
import type { FuzzTarget } from './target.ts';
import { folderOf, fuzzTargets } from './targets.ts';

const corpus = join(import.meta.dirname, 'corpus');

/** Inputs on which a target once failed. */
function casesOf(target: FuzzTarget): { what: string; input: Buffer }[] {
  const folder = join(corpus, folderOf(target));
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return [
    ...files.map((file) => ({ what: file, input: readFileSync(join(folder, file)) })),
    ...grownCases
      .filter((grown) => grown.target === target.name)
      .map(({ what, make }) => ({ what, input: Buffer.from(make()) })),
  ];
}

const ignore: (input: Buffer) => void = () => {};

async function fuzzed(target: FuzzTarget, inputs: number, onInput = ignore) {
  const findings: Finding[] = [];
  const { suspects } = await fuzzTarget(target, {
    seed: 1,
    inputs,
    isGuided: true,
    isOver: () => false,
    onInput,
    onFinding: (finding) => findings.push(finding),
  });
  return { findings, suspects };
}

test('every found case belongs to a target', () => {
  const names = new Set(fuzzTargets.map(({ name }) => name));
  const folders = new Set(fuzzTargets.map(folderOf));
  expect(folders.size).toBe(fuzzTargets.length);
  expect(grownCases.filter(({ target }) => !names.has(target))).toEqual([]);
  const there = existsSync(corpus) ? readdirSync(corpus) : [];
  expect(there.filter((folder) => !folders.has(folder))).toEqual([]);
});

describe.each(fuzzTargets)('$name', (target) => {
  test('accepts its samples and some mutations', async () => {
    for (const sample of target.samples) {
      expect((await attempt(target, sample)).finding).toBe(null);
    }
    expect((await fuzzed(target, target.samples.length + runs(4, 10))).findings).toEqual([]);
  });

  test.skipIf(casesOf(target).length === 0)('accepts what it once failed on', async () => {
    for (const { what, input } of casesOf(target)) {
      expect((await attempt(target, input)).finding, what).toBe(null);
    }
  });
});

describe('the fuzzer finds', () => {
  const faulty = (
    run: (text: string) => unknown,
    samples = ['{"a":"b","c":[1,2]}'],
  ): FuzzTarget => ({
    name: 'faulty',
    isJson: true,
    samples: samples.map((text) => Buffer.from(text)),
    run: (input) => run(String(input)),
    isRefusal: (error) => error instanceof SyntaxError,
  });

  test('an error that is not a refusal, and the part of the input that causes it', async () => {
    const target = faulty((text) => {
      const value = JSON.parse(text) as { a?: unknown } | null;
      if (value?.a === null) throw new TypeError('a is null');
    });
    const { findings } = await fuzzed(target, 600);
    expect(findings.map(({ kind }) => kind)).toEqual(['error']);
    const input = Buffer.from('{"b":[1,2,3],"a":null,"c":{"d":"e"}}');
    const shortest = await shrink(target, input, 'error', () => false);
    expect(String(shortest)).toMatch(/^\{.{0,16}"a":null.{0,16}\}$/);
  });

  test('work out of proportion to the input', async () => {
    const target = faulty(
      (text) => {
        if (!text.includes('slow')) return;
        const start = process.threadCpuUsage();
        for (let spent = { user: 0, system: 0 }; spent.user + spent.system < 300_000;) {
          spent = process.threadCpuUsage(start);
        }
      },
      ['{}', '{"a":"slow"}'],
    );
    const { findings } = await fuzzed(target, 2);
    expect(findings.map(({ kind }) => kind)).toEqual(['time']);
  });

  test('much more memory than the input', async () => {
    const target = faulty((text) => Array.from({ length: 2 ** 21 }, () => text));
    expect((await fuzzed(target, 3)).suspects).not.toEqual([]);
  });

  test('the same inputs for the same seed', async () => {
    const seen: string[][] = [[], []];
    for (const list of seen) {
      await fuzzed(
        faulty(() => null),
        41,
        (input) => list.push(String(input)),
      );
    }
    // Every second input depends on the clock.
    const same = seen.map((list) => list.filter((_, at) => at % 2 === 1));
    expect(same[0]).toEqual(same[1]);
  });
});
