import { expect, it } from 'vitest';
import { filterWord, hasWord, lastWord } from './filter.ts';

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
