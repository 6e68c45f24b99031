import { expect, test } from 'vitest';
import { requestsOf } from './sums.ts';

const range = { from: '2026-11-25T00:00:00.000Z', to: '2026-11-26T00:00:00.000Z' };

test.each([
  [[], '', undefined],
  [[], 'client:codex', 'client:codex'],
  // Sums of a model count only what an upstream was asked for, wherever the model is named.
  [[], 'model:demo-chat', 'model:demo-chat asked:yes'],
  [[{ dimension: 'key', name: 'ci' }], 'model:gpt*', 'model:gpt* key:ci asked:yes'],
  [[{ dimension: 'model', name: 'gpt-5' }], '', 'model:gpt-5 asked:yes'],
  [[{ dimension: 'model', name: '' }], '', 'asked:no'],
  [
    [
      { dimension: 'client', name: 'codex' },
      { dimension: 'model', name: '' },
    ],
    'team:lab',
    'team:lab client:codex asked:no',
  ],
] as const)('a figure of %j, filtered by "%s", opens what it counts', (groups, line, filter) => {
  expect(requestsOf(groups, range, line)).toEqual({
    ...range,
    ...(filter !== undefined && { filter }),
  });
});

test.each([
  { dimension: 'team', name: '' },
  { dimension: 'key', name: null },
] as const)('no filter names %j', (group) => {
  expect(requestsOf([{ dimension: 'model', name: 'gpt-5' }, group], range)).toBeNull();
});
