import { expect, test } from 'vitest';
import { isShared } from './state-directory.ts';
import { createStateMemory } from './state-memory.ts';

const given = (id: string, owner = 'alice') => ({
  id,
  owner,
  channel: 'ch_1',
  credential: null,
  expiresAt: 1,
});

test('the least recently used id goes first', () => {
  const memory = createStateMemory(100);
  for (let at = 0; at < 1_000; at += 1) {
    memory.note(given(String(at)));
    expect(memory.recall('0')).toHaveLength(1);
  }
  const kept = Array.from({ length: 1_000 }, (_, at) => memory.recall(String(at)).length);
  expect(kept.filter((count) => count > 0).length).toBeLessThanOrEqual(100);
  expect(kept.at(-1)).toBe(1);
});

test('an id may belong to several owners, a few of whom are kept', () => {
  const memory = createStateMemory();
  for (const owner of ['alice', 'bob', 'alice']) memory.note(given('one', owner));
  expect(memory.recall('one').map(({ owner }) => owner)).toEqual(['bob', 'alice']);
  for (let at = 0; at < 100; at += 1) memory.note(given('one', String(at)));
  expect(memory.recall('one').length).toBe(8);
});

test.each([
  ['vs_a', 'vs_a', true],
  ['vs_a', 'vs_ab', false],
  ['file-*', 'file-', true],
  ['file-*', 'xfile-1', false],
  ['*', '', true],
  ['a*b*c', 'abc', true],
  ['a*b*c', 'acb', false],
  ['ab*ba', 'aba', false],
  ['a?b', 'axb', false],
])('%s shares %s: %s', (pattern, id, shared) => {
  expect(isShared([pattern], id)).toBe(shared);
});
