import { expect, test } from 'vitest';
import type { Say } from '../words/index.ts';
import { resultText } from './result-text.ts';

const say: Say = (name, values) => [name, ...Object.values(values ?? {})].join(' ');

test.each([
  ['overloaded', 'results.overloaded'],
  ['ending=MALFORMED_FUNCTION_CALL', 'results.ending MALFORMED_FUNCTION_CALL'],
  ['of_a_later_release', 'of_a_later_release'],
])('the result %s is shown as %s', (result, text) => {
  expect(resultText(result, say)).toBe(text);
});
