import { expect, test } from 'vitest';
import { openAiTraits } from './traits.ts';

test.each([
  ['gpt-6.2-sol', 'low'],
  ['gpt-6.1-sol', 'low'],
  ['gpt-6-sol', 'none'],
  ['gpt-5.6-luna', 'none'],
  ['gpt-5.1', 'none'],
  ['gpt-5', 'minimal'],
  ['gpt-5-codex', null],
  ['gpt-4.1', null],
])('%s thinks least with the effort %s', (model, effort) => {
  expect(openAiTraits(model).leastEffort).toBe(effort);
});
