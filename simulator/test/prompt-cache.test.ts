import { expect, test } from 'vitest';
import { createPromptCache } from '../src/messages/prompt-cache.ts';
import type { PromptPart } from '../src/scenario/question.ts';

type Mark = PromptPart['mark'] | null;
const part = (content: string, tokens: number, mark: Mark = null): PromptPart => ({
  side: 'user',
  content,
  tokens,
  ...(mark !== null && { mark }),
});

function open() {
  let time = 0;
  const cache = createPromptCache(() => time);
  return {
    wait: (minutes: number) => void (time += minutes * 60_000),
    count: (prompt: readonly PromptPart[], account = 'a', model = 'm') => {
      const usage = cache.count(account, model, prompt);
      return [usage.cacheRead, usage.cacheWrite5m, usage.cacheWrite1h, usage.freshInput];
    },
  };
}

test('a marked prompt is written once, and then read with what follows it', () => {
  const { count } = open();
  expect(count([part('s', 2000, '5m'), part('q', 10)])).toEqual([0, 2000, 0, 10]);
  expect(count([part('s', 2000, '5m'), part('r', 20)])).toEqual([2000, 0, 0, 20]);
  expect(count([part('s', 2000), part('q', 10, '5m')])).toEqual([2000, 10, 0, 0]);
  expect(count([part('S', 2000, '5m'), part('q', 10)])).toEqual([0, 2000, 0, 10]);
});

test('another account and another model find nothing', () => {
  const { count } = open();
  const prompt = [part('s', 2000, '5m')];
  count(prompt);
  expect(count(prompt, 'b')).toEqual([0, 2000, 0, 0]);
  expect(count(prompt, 'a', 'n')).toEqual([0, 2000, 0, 0]);
});

test('an entry is found 20 blocks before a mark, and no further', () => {
  const grown = (blocks: number) => [
    part('s', 2000),
    ...Array.from({ length: blocks }, (_, at) => part(String(at), 1)),
  ];
  for (const [blocks, read] of [
    [19, 2000],
    [20, 0],
  ] as const) {
    const { count } = open();
    count([part('s', 2000, '5m')]);
    const prompt = grown(blocks);
    const marked = [...prompt.slice(0, -1), { ...prompt.at(-1)!, mark: '5m' as const }];
    expect(count(marked)[0]).toBe(read);
  }
});

test('an entry lives for its time after its last use', () => {
  for (const [ttl, minutes] of [
    ['5m', 4],
    ['1h', 59],
  ] as const) {
    const { count, wait } = open();
    const prompt = [part('s', 2000, ttl)];
    count(prompt);
    for (const _ of [1, 2]) {
      wait(minutes);
      expect(count(prompt)[0]).toBe(2000);
    }
    wait(minutes + 1);
    expect(count(prompt)[0]).toBe(0);
  }
});

test('long entries stand before short ones, and each is counted by its lifetime', () => {
  const { count } = open();
  const prompt = [part('s', 2000, '1h'), part('q', 300, '5m'), part('r', 4)];
  expect(count(prompt)).toEqual([0, 300, 2000, 4]);
});

test.each([
  ['claude-haiku-4-5-prompt-cache', 4095, 4096],
  ['claude-opus-5-prompt-cache', 511, 512],
  ['prompt-cache', 1023, 1024],
])('%s caches no prompt of %i tokens, and one of %i', (model, below, least) => {
  const { count } = open();
  for (const _ of [1, 2])
    expect(count([part('s', below, '5m')], 'a', model)).toEqual([0, 0, 0, below]);
  expect(count([part('t', least, '5m')], 'a', model)).toEqual([0, least, 0, 0]);
});
