import { expect, test } from 'vitest';
import { type ExactMapping, parseExactJson } from './exact-json.ts';
import { readModelsDev } from './models-dev.ts';

const read = (file: object) => readModelsDev(parseExactJson(JSON.stringify(file)) as ExactMapping);
const readModel = (model: unknown, id = 'm') => read({ p: { models: { [id]: model } } });

const cost = { input: 1, output: 2 };
const embedding = { input: 1, output: 0 };

test.each([
  ['a provider that is not an object', { p: 1 }],
  ['a provider without models', { p: { name: 'P' } }],
  ['a list of models', { p: { models: [] } }],
  ['a model that is not an object', { p: { models: { m: 1 } } }],
])('%s says nothing', (_what, file) => {
  expect(read(file)).toEqual([]);
});

test.each<[string, object, object]>([
  ['a chat model', { cost, limit: { context: 9, output: 3 } }, { type: 'chat', contextWindow: 9 }],
  ['a chat model without limits', { cost }, { type: 'chat', maxOutputTokens: null }],
  ['a picture model', { cost, modalities: { output: ['image'] } }, { type: 'image' }],
  ['text and pictures', { cost, modalities: { output: ['image', 'text'] } }, { type: 'chat' }],
  [
    'embeddings',
    { cost: embedding, family: 'text-embedding' },
    { type: 'embedding', maxOutputTokens: null },
  ],
  ['reasoning at the price of output', { cost: { ...cost, reasoning: 2 } }, { type: 'chat' }],
  [
    'a price for long prompts',
    { cost: { ...cost, context_over_200k: { input: 3, output: 4 } } },
    { price: { input: '1', output: '2', tiers: [{ above: 200_000, input: '3', output: '4' }] } },
  ],
])('%s is read', (_what, model, expected) => {
  expect(readModel(model)).toMatchObject([{ provider: 'p', model: { id: 'm', ...expected } }]);
});

test.each([
  ['sounds', { cost, modalities: { output: ['audio'] } }, 'neither text nor images'],
  ['no price', {}, 'no price per token'],
  ['several thresholds', { cost: { ...cost, tiers: [] } }, 'other prices for long prompts'],
  [
    'embeddings with a threshold',
    { family: 'embed', cost: { ...cost, context_over_200k: cost } },
    'other prices for long prompts',
  ],
  ['reasoning', { cost: { ...cost, reasoning: 3 } }, 'reasoning has a price of its own'],
])('%s is skipped', (_what, model, reason) => {
  expect(readModel(model)).toEqual([
    { provider: 'p', skipped: { id: 'm', provider: 'p', reason } },
  ]);
});

test('an embedding model is known by its name where no family is given', () => {
  expect(readModel({ cost: embedding }, 'text-embed-3')).toMatchObject([
    { model: { type: 'embedding' } },
  ]);
});
