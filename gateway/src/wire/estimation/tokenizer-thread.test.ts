import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createTokenizerThread, type TokenizerThreadOptions } from './tokenizer-thread.ts';

const words = ['one two three'];

function open(options: Partial<TokenizerThreadOptions> = {}) {
  const problems: unknown[] = [];
  const thread = createTokenizerThread({
    idle: 60_000,
    patience: 20_000,
    onProblem: (error) => problems.push(error),
    ...options,
  });
  onTestFinished(() => thread.close());
  return { thread, problems };
}

const threads = () =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'MessagePort').length;

test('it counts, many texts at once and each separately', async () => {
  const { thread, problems } = open();
  const counts = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      thread.count({ said: Array.from({ length: at }, () => 'one two three'), defined: words }),
    ),
  );
  expect(counts.map((count) => count?.said)).toEqual(counts.map((_, at) => at * 3));
  expect(counts.every((count) => count?.defined === 3)).toBe(true);
  expect(problems).toEqual([]);
});

test('a slow count is given up, and the thread survives', async () => {
  const { thread } = open({ patience: 1 });
  expect(await thread.count({ said: words, defined: [] })).toBeNull();
  const { thread: patient } = open();
  expect(await patient.count({ said: words, defined: [] })).toMatchObject({ said: 3 });
});

test('a count that cannot finish in time is not sent', async () => {
  const { thread } = open();
  const long = ['x'.repeat(40 * 1024 * 1024)];
  const first = thread.count({ said: long, defined: [] });
  expect(await thread.count({ said: long, defined: [] })).toBeNull();
  expect((await first)?.said).toBeGreaterThan(1_000_000);
  expect(await thread.count({ said: words, defined: [] })).toMatchObject({ said: 3 });
});

test('it ends when it is idle, and restarts on demand', async () => {
  const { thread } = open({ idle: 50 });
  const before = threads();
  expect(await thread.count({ said: words, defined: [] })).toMatchObject({ said: 3 });
  await wait(400);
  expect(threads()).toBe(before);
  expect(await thread.count({ said: words, defined: [] })).toMatchObject({ said: 3 });
});

test('after closing it counts nothing and leaves nobody waiting', async () => {
  const { thread } = open();
  const waiting = thread.count({ said: words, defined: [] });
  await thread.close();
  expect(await waiting).toBeNull();
  expect(await thread.count({ said: words, defined: [] })).toBeNull();
});
