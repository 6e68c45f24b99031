import { expect, test } from 'vitest';
import type { Declared } from '#config/index.ts';
import { settingsInVain, unpricedImages, unpricedSearches } from './file-warnings.ts';

type Declarations = Parameters<typeof settingsInVain>[0];

const declare = (parts: { models?: object[]; keys?: object[]; teams?: object[] }): Declarations =>
  ({ models: [], keys: [], teams: [], ...parts }) as Pick<Declared, 'models' | 'keys' | 'teams'>;
const key = { name: 'ci', rpm: null, rph: null, maxConcurrency: null };

test.each([
  [['layers', 'streaming'], true],
  [['edits', 'multi_reference', 'layers', 'streaming'], true],
  [['multi_reference', 'streaming'], true],
  [['edits', 'multi_reference', 'streaming'], false],
  [['edits', 'streaming'], false],
  [['layers'], false],
])('streaming of a model with %j', (capabilities, isWarned) => {
  const warnings = settingsInVain(declare({ models: [{ id: 'seedream', capabilities }] }));
  expect(warnings).toEqual(
    isWarned ? [expect.stringMatching(/^model 'seedream' declares streaming, but /)] : [],
  );
});

test('an image model for a tool that nothing serves', () => {
  const models = [
    { id: 'writer', capabilities: [], imageToolModel: 'painter' },
    { id: 'plain', capabilities: [], imageToolModel: null },
  ];
  expect(settingsInVain(declare({ models }))).toEqual([
    "model 'writer' has image_tool_model, which has no effect: only upstreams of Responses have the tool image_generation",
  ]);
});

test('limits of 0, which refuse everything', () => {
  expect(
    settingsInVain(
      declare({
        keys: [key, { ...key, rpm: 0, maxConcurrency: 0 }, { ...key, rph: 1 }],
        teams: [{ name: 'research', rpm: 0 }],
      }),
    ),
  ).toEqual([
    "key 'ci' has rpm: 0, so every request is refused; leave it out for no limit",
    "key 'ci' has max_concurrency: 0, so every request is refused; leave it out for no limit",
    "team 'research' has rpm: 0, so every request is refused; leave it out for no limit",
  ]);
});

const bundled = new Map([['gpt-5', ['tools', 'hosted_tools']]]);
const entry = { type: 'chat', enabled: true, capabilities: [] as string[] } as const;
const price = { input: '1', output: '2' };

test('a price without searches is warned about where the provider has them', () => {
  const models = [
    { ...entry, id: 'gpt-5', price },
    { ...entry, id: 'own', capabilities: ['hosted_tools'], price },
  ];
  expect(unpricedSearches(models, bundled)).toEqual([
    "model 'gpt-5' has no price for web searches (price.fees.web_search): they are charged 0",
    "model 'own' has no price for web searches (price.fees.web_search): they are charged 0",
  ]);
});

test('nothing else is', () => {
  const models = [
    { ...entry, id: 'gpt-5', price: null },
    { ...entry, id: 'gpt-5', price: { ...price, fees: { web_search: '0' } } },
    { ...entry, id: 'gpt-5', price, enabled: false },
    { ...entry, id: 'gpt-5', price, capabilities: ['tools'] },
    { ...entry, id: 'other', price },
  ];
  expect(unpricedSearches(models, bundled)).toEqual([]);
});

const searchPrice = { input: '1', output: '2', fees: { web_search: '0.01' } };
const model = {
  id: 'gpt-5',
  type: 'chat',
  enabled: true,
  capabilities: [],
  price: searchPrice,
} as const;
const channel = {
  provider: 'openai',
  protocols: ['chat', 'responses'],
  models: [{ name: 'gpt-*', upstream: 'gpt-*' }],
  enabled: true,
} as const;

test('a model whose provider draws with a tool of its own is warned about', () => {
  expect(unpricedImages([model], [channel], bundled)).toEqual([
    "model 'gpt-5' can draw with its provider's tool image_generation, whose tokens no price has: they are charged 0",
  ]);
});

test.each([
  ['another provider', model, { ...channel, provider: 'openai-compatible' }],
  ['no Responses', model, { ...channel, protocols: ['chat'] }],
  ['a disabled channel', model, { ...channel, enabled: false }],
  ['a channel of other models', model, { ...channel, models: [{ name: 'o3', upstream: 'o3' }] }],
  ['no price', { ...model, price: null }, channel],
  ['no tools of the provider', { ...model, capabilities: ['tools'] }, channel],
  ['a disabled model', { ...model, enabled: false }, channel],
] as const)('with %s nothing is', (_, declared, serving) => {
  expect(unpricedImages([declared], [serving], bundled)).toEqual([]);
});
