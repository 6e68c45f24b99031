import { expect, test } from 'vitest';
import { Placeholder } from '#declaration/index.ts';
import { hasPath, plainUrl, providerAt } from './address.ts';

test.each([
  ['https://a.example/v1/', { url: 'https://a.example/v1', isShortened: false }],
  ['HTTP://A.example', { url: 'http://a.example', isShortened: false }],
  ['https://a.example/v1?key=1', { url: 'https://a.example/v1', isShortened: true }],
  ['https://a.example/v1#part', { url: 'https://a.example/v1', isShortened: true }],
  ['https://me:secret@a.example', { url: 'https://a.example', isShortened: true }],
  ['ftp://a.example', null],
  ['https://', null],
  ['a.example', null],
])('the address %s', (text, expected) => {
  expect(plainUrl(text)).toEqual(expected);
});

test.each([
  ['https://a.example', false],
  ['https://a.example//', false],
  ['https://a.example/v1', true],
])('%s has a path: %s', (url, expected) => {
  expect(hasPath(url)).toBe(expected);
});

test.each([
  ['openai', null, 'openai'],
  ['openai', 'https://api.openai.com/other', 'openai'],
  ['openai', 'https://a.example/v1', 'openai-compatible'],
  ['openai', new Placeholder('BASE_URL'), 'openai-compatible'],
  ['anthropic', 'https://a.example', 'anthropic'],
] as const)('%s at %o is %s', (provider, address, expected) => {
  expect(providerAt(provider, address)).toBe(expected);
});
