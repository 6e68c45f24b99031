import { describe, expect, test } from 'vitest';
import { outlineOf, parseOutline, watchList } from './index.ts';

const watched = watchList(['model']);
const long = 'x'.repeat(9000);
const parse = (text: string) => parseOutline(Buffer.from(text), watched).value;

describe('the outline of a body', () => {
  test('is the body itself if its texts are short', () => {
    const body = Buffer.from('{"model":"m","a":["b",{"c":1}]}');
    expect(outlineOf(body, 100)).toBe(body);
  });

  test('has the beginnings of long texts', () => {
    expect(outlineOf(Buffer.from('["abcdef",1,"abcdefg","x"]'), 3)?.toString()).toBe(
      '["abc",1,"abc","x"]',
    );
  });

  test.each([
    ['an escape', '"ab\\u0041cd"', '"ab"'],
    ['a short escape', '"abc\\"cd"', '"abc\\"c"'],
    ['a backslash before the end', '"abcde\\\\\\\\"', '"abcde"'],
    ['a character of several bytes', '"abcde🙂🙂"', '"abcde"'],
  ])('cuts no text within %s', (_, text, expected) => {
    expect(outlineOf(Buffer.from(text), 6)?.toString()).toBe(expected);
  });

  test.each([
    ['a line end', `{"a":"${long}\n"}`],
    ['a control character between words', `{"a":"${long}\u0001${long}"}`],
    ['an unknown escape', `{"a":"${long}\\x"}`],
    ['a broken escape', `{"a":"${long}\\u00g0"}`],
    ['no end', `{"a":"${long}`],
    ['no JSON around it', `{"a":"${long}",}`],
  ])('is refused for a long text with %s', (_, text) => {
    expect(() => parse(text)).toThrow('invalid request body');
  });

  test('keeps the places of members in the body', () => {
    const text = `{"a":"${long}","model":"m"}`;
    const { scan, value } = parseOutline(Buffer.from(text), watched);
    const { valueStart, valueEnd } = scan.members.get('model')!;
    expect(text.slice(valueStart, valueEnd)).toBe('"m"');
    expect(value).toEqual({ a: 'x'.repeat(8192), model: 'm' });
  });
});
