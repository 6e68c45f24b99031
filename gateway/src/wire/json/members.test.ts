import { describe, expect, it } from 'vitest';
import { elementsAt, membersAt, objectStart, removeMembers, replaceKey, splice } from './index.ts';

const without = (text: string, ...names: readonly string[]): string => {
  const body = Buffer.from(text);
  const members = membersAt(body, objectStart(body, 0)!);
  return splice(
    body,
    removeMembers(body, members, ({ key }) => names.includes(key)),
  ).toString();
};

describe('removing members', () => {
  it('takes neighbours with the commas between them', () => {
    const text = '{"a":1, "b":[2,{"b":3}] ,"c":"x","d":{}}';
    expect(without(text, 'a', 'b')).toBe('{"c":"x","d":{}}');
    expect(without(text, 'c', 'd')).toBe('{"a":1, "b":[2,{"b":3}] }');
    expect(without(text, 'a', 'd')).toBe('{"b":[2,{"b":3}] ,"c":"x"}');
    expect(JSON.parse(without(text, 'b', 'c'))).toEqual({ a: 1, d: {} });
    expect(without(text, 'a', 'b', 'c', 'd')).toBe('{}');
  });

  it('finds a key that is written with escapes, and every one that is repeated', () => {
    expect(without('{"\\u0061":1,"b":2,"a":3}', 'a')).toBe('{"b":2}');
  });
});

it('gives a member another name', () => {
  const body = Buffer.from('{ "o\\u006cd" : {"old":1} }');
  const [member] = membersAt(body, 0);
  expect(splice(body, [replaceKey(body, member!, 'new')]).toString()).toBe('{ "new" : {"old":1} }');
});

it('a value that is not an object has no members, one that is not a list no elements', () => {
  const body = Buffer.from(' [1, "]", {}] ');
  expect(objectStart(body, 0)).toBeNull();
  const text = elementsAt(body, 1).map(({ start, end }) => body.toString('utf8', start, end));
  expect(text).toEqual(['1', '"]"', '{}']);
  expect(elementsAt(Buffer.from('{"a":1}'), 0)).toEqual([]);
});

it('refuses nesting that cannot be walked instead of walking it for ever', () => {
  const deep = Buffer.from(`{"a":${'['.repeat(600)}${']'.repeat(600)},"b":1}`);
  expect(() => membersAt(deep, 0)).toThrow(expect.objectContaining({ errorName: 'too_complex' }));
});
