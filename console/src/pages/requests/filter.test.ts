import { expect, it } from 'vitest';
import { filterWord, hasWord, lastWord, withWord } from './filter.ts';

it.each([
  ['', '', null, ''],
  ['mod', '', null, 'mod'],
  ['status:4xx -mo', 'status:4xx -', null, 'mo'],
  ['model:demo', 'model:', 'model', 'demo'],
  ['-model:demo,cla', '-model:demo,', 'model', 'cla'],
  ['model:a:b', 'model:', 'model', 'a:b'],
  ['key:"my lap', 'key:', 'key', 'my lap'],
  ['key:"a,b","my lap', 'key:"a,b",', 'key', 'my lap'],
  ['model:demo ', 'model:demo ', null, ''],
])('at the end of %j', (line, before, word, value) => {
  expect(lastWord(line)).toEqual({ before, word, value });
});

it('values that would be read otherwise are quoted', () => {
  expect(filterWord('key', 'my laptop')).toBe('key:"my laptop"');
  expect(filterWord('key', 'a,b')).toBe('key:"a,b"');
  expect(filterWord('model', 'a:b')).toBe('model:a:b');
});

it('finds a word in a line', () => {
  expect(hasWord('key:x model:y', 'model')).toBe(true);
  expect(hasWord('-model:y submodel:z', 'model')).toBe(false);
});

it.each([
  ['', false, 'key:ci'],
  ['', true, '-key:ci'],
  ['model:gpt*', false, 'model:gpt* key:ci'],
  ['key:ci model:gpt*', false, 'key:ci model:gpt*'],
  ['key:ci-2', false, 'key:ci-2 key:ci'],
  ['-key:ci', true, '-key:ci'],
])('a line %j with key:ci, excluded: %s', (line, isExcluded, expected) => {
  expect(withWord(line, 'key:ci', isExcluded)).toBe(expected);
});
