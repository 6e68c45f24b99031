import { expect, test } from 'vitest';
import { unpricedSearches } from './unpriced-searches.ts';

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
