import { expect, test } from 'vitest';
import { valueText } from './value-text.ts';

test.each([
  ['gpt-5', 'gpt-5'],
  [0, '0'],
  [false, 'false'],
  [null, '–'],
  [[], '–'],
  [{ daily: null }, '–'],
  [['default', 'coding'], 'default, coding'],
  [{ daily: null, monthly: '11200' }, 'monthly 11200'],
  [['gpt-5', { name: 'fast', upstream: 'gpt-5-mini' }], 'gpt-5; name fast, upstream gpt-5-mini'],
  [{ tiers: [{ above: 200_000, input: '2' }] }, 'tiers above 200000, input 2'],
])('%j is shown as %j', (value, text) => {
  expect(valueText(value)).toBe(text);
});
