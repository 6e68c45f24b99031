import { expect, test } from 'vitest';
import { createVariableNames } from './file-text.ts';

test.each([
  ['openai-main', 'API_KEY', 'OPENAI_MAIN_API_KEY'],
  ['main', 'HEADER_x-team', 'MAIN_HEADER_X_TEAM'],
  ['a  b', 'API_KEY', 'A_B_API_KEY'],
  ['-a-', 'KEY-', 'A_KEY'],
  ['1st', 'API_KEY', 'CHANNEL_1ST_API_KEY'],
])('%s and %s are %s', (owner, what, name) => {
  expect(createVariableNames()(owner, what)).toBe(name);
});

test('a name that is taken gets a number', () => {
  const nameOf = createVariableNames(new Set(['HOME_KEY']));
  const names = [1, 2, 3].map(() => nameOf('a-b', 'KEY'));
  expect(names).toEqual(['A_B_KEY', 'A_B_KEY_2', 'A_B_KEY_3']);
  expect(nameOf('home', 'KEY')).toBe('HOME_KEY_2');
});
