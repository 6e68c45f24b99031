import { expect, test } from 'vitest';
import { unpricedPictures } from './unpriced-pictures.ts';

const bundled = new Map([['gpt-5', ['tools', 'hosted_tools']]]);
const price = { input: '1', output: '2', fees: { web_search: '0.01' } };
const model = { id: 'gpt-5', type: 'chat', enabled: true, capabilities: [], price } as const;
const channel = {
  provider: 'openai',
  protocols: ['chat', 'responses'],
  models: [{ name: 'gpt-*', upstream: 'gpt-*' }],
  enabled: true,
} as const;

test('a model whose provider draws with a tool of its own is warned about', () => {
  expect(unpricedPictures([model], [channel], bundled)).toEqual([
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
  expect(unpricedPictures([declared], [serving], bundled)).toEqual([]);
});
