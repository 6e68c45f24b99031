import { expect, test } from 'vitest';
import { anthropicModels, geminiModels, openAiModels, type ModelList } from './model-lists.ts';

const forms: readonly (readonly [
  vendor: string,
  list: ModelList,
  path: string,
  body: object,
  names: readonly string[],
  next: string | null,
])[] = [
  ['openai', openAiModels(), '/models', { data: [{ id: 'gpt-5' }, { id: 7 }, 1] }, ['gpt-5'], null],
  ['the simulator', openAiModels('/v1'), '/v1/models', { data: [] }, [], null],
  [
    'anthropic',
    anthropicModels,
    '/models?limit=1000',
    { data: [{ id: 'claude-a' }], has_more: true, last_id: 'claude-a' },
    ['claude-a'],
    'claude-a',
  ],
  [
    'anthropic, the last page',
    anthropicModels,
    '/models?limit=1000',
    { data: [{ id: 'claude-a' }], has_more: false, last_id: 'claude-a' },
    ['claude-a'],
    null,
  ],
  [
    'gemini',
    geminiModels,
    '/models?pageSize=1000',
    { models: [{ name: 'models/gemini-2.5' }], nextPageToken: 'a b' },
    ['gemini-2.5'],
    'a b',
  ],
];

test.each(forms)('%s', (_vendor, list, path, body, names, next) => {
  expect(list.path(null)).toBe(path);
  expect(list.read(body)).toEqual({ names, next });
  if (next !== null) expect(list.path(next)).toContain(encodeURIComponent(next));
  for (const other of [null, [], 'text', { data: 'x' }, { error: {} }]) {
    expect(list.read(other)).toBe(null);
  }
});
