import { expect, it } from 'vitest';
import { isBracketedTooDeeply } from './syntax.ts';

it.each([
  ['64 lists', '['.repeat(64) + ']'.repeat(64), false],
  ['65 lists', '['.repeat(65) + ']'.repeat(65), true],
  ['lists and mappings that are never closed', '{a: ['.repeat(40), true],
  ['many beside one another', `[${'{a: 1},'.repeat(1000)}]`, false],
  ['brackets in quotes', `a: "${'['.repeat(100)}"`, false],
  ['brackets in a comment', `a: 1 # ${'['.repeat(100)}`, false],
  ['brackets in a block of text', `a: |\n  ${'['.repeat(100)}`, false],
])('%s', (_, text, expected) => {
  expect(isBracketedTooDeeply(text)).toBe(expected);
});
