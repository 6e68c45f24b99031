import { expect, test } from 'vitest';
import { parseWithIds } from './task-values.ts';

test.each([
  ['{"id":9007199254740993,"n":1}', { id: '9007199254740993', n: 1 }],
  ['{"ids":[18446744073709551615,5]}', { ids: ['18446744073709551615', 5] }],
  [
    '{"a":1.0,"b":1e20,"c":0.1,"d":-5,"e":"9007199254740993"}',
    { a: 1, b: 1e20, c: 0.1, d: -5, e: '9007199254740993' },
  ],
  ['7', 7],
])('%s', (json, value) => expect(parseWithIds(Buffer.from(json))).toEqual(value));

test('what is not JSON is an error', () => {
  expect(() => parseWithIds(Buffer.from('{"id":9007199254740993'))).toThrow(SyntaxError);
});
