import { expect, test } from 'vitest';
import type { Extensions } from '#canonical/index.ts';
import { openAiTraits } from '#vendors/openai/index.ts';
import { plainTraits } from '#vendors/traits.ts';
import { sharedMembers } from './openai-members.ts';

const extensions: Extensions = [
  { protocol: 'chat', name: 'prompt_cache_retention', value: '24h', ifForeign: 'drop' },
  { protocol: 'responses', name: 'service_tier', value: 'flex', ifForeign: 'drop' },
  { protocol: 'chat', name: 'logit_bias', value: {}, ifForeign: 'drop' },
  { protocol: 'messages', name: 'prompt_cache_retention', value: '24h', ifForeign: 'drop' },
];

test('what chat and responses have in common at OpenAI is carried there, and lost elsewhere', () => {
  expect(sharedMembers(extensions, { traits: openAiTraits('gpt-5.6') })).toEqual({
    shared: { prompt_cache_retention: '24h', service_tier: 'flex' },
    others: extensions.slice(2),
  });
  expect(sharedMembers(extensions, { traits: plainTraits })).toEqual({
    shared: {},
    others: extensions,
  });
});

test.each([
  [
    { store: true, metadata: { a: 'b' } },
    { store: true, metadata: { a: 'b' } },
  ],
  [{ store: false, metadata: { a: 'b' } }, { store: false }],
  [{ metadata: { a: 'b' } }, {}],
])('of %j OpenAI gets %j', (members, shared) => {
  const asked: Extensions = Object.entries(members).map(([name, value]) => ({
    protocol: 'chat',
    name,
    value,
    ifForeign: 'ignore',
  }));
  expect(sharedMembers(asked, { traits: openAiTraits('gpt-5.6') }).shared).toEqual(shared);
});
