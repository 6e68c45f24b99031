import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LongText, parseWithLongTexts, writeJson } from './index.ts';

/** With the long texts as strings again. */
function whole(value: unknown): unknown {
  if (value instanceof LongText) {
    const bytes = value.pieces.map((piece) => Buffer.from(piece as Buffer));
    return JSON.parse(`"${Buffer.concat(bytes).toString('utf8')}"`);
  }
  if (Array.isArray(value)) return value.map(whole);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, whole(member)]));
}

const longText = fc
  .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), fc.constantFrom(1, 700, 5000))
  .map(([text, times]) => text.repeat(times));
const json = fc.object({
  values: [longText, fc.boolean(), fc.integer(), fc.constant(null)],
  maxDepth: 3,
});
const spaces = fc.constantFrom(0, 1, 3);

describe('parseWithLongTexts', () => {
  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(json, spaces, (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(whole(parseWithLongTexts(Buffer.from(text)))).toEqual(JSON.parse(text));
      }),
      { numRuns: 300 },
    );
  });

  it('gives bytes that writeJson writes again', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = JSON.stringify(value);
        expect(writeJson(parseWithLongTexts(Buffer.from(text))).toString()).toBe(
          JSON.stringify(JSON.parse(text)),
        );
      }),
    );
  });

  it('keeps a long text as a slice of the body', () => {
    const body = Buffer.from(`{"a":"x","b":["${'A'.repeat(5000)}"]}`);
    const { b } = parseWithLongTexts(body) as { b: [LongText] };
    expect((b[0].pieces[0] as Buffer).buffer).toBe(body.buffer);
  });

  it('parses a long key', () => {
    const key = 'k'.repeat(5000);
    expect(parseWithLongTexts(Buffer.from(`{"${key}" : 1}`))).toEqual({ [key]: 1 });
  });

  it.each([
    ['a list', '[]', 'invalid_body'],
    ['a long text alone', `"${'A'.repeat(5000)}"`, 'invalid_body'],
    ['invalid JSON beside a long text', `{"a":"${'A'.repeat(5000)}","b":x}`, 'invalid_body'],
    ['a control character in a long text', `{"a":"${'A'.repeat(5000)}\n"}`, 'invalid_body'],
    ['an unknown escape in a long text', `{"a":"${'A'.repeat(5000)}\\x"}`, 'invalid_body'],
    ['a long text that does not end', `{"a":"${'A'.repeat(5000)}`, 'invalid_body'],
    ['a body nested too deeply', `{"a":${'['.repeat(600)}`, 'too_complex'],
    ['megabytes of small values', `{"a":[${'1,'.repeat(1_100_000)}1]}`, 'too_complex'],
  ])('refuses %s', (_, text, error) => {
    expect(() => parseWithLongTexts(Buffer.from(text))).toThrow(
      expect.objectContaining({ errorName: error }),
    );
  });

  it('accepts a name that stands for no text', () => {
    expect(parseWithLongTexts(Buffer.from('{"a":{"\\u0000":0}}'))).toEqual({
      a: { '\u0000': 0 },
    });
  });
});

describe('writeJson', () => {
  it('writes what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(writeJson(value).toString()).toBe(JSON.stringify(value));
      }),
    );
  });

  it('escapes the texts of a long text, and not its bytes', () => {
    const text = new LongText('a"b\n', Buffer.from('AA=='), ')');
    expect(writeJson({ text, gone: undefined }).toString()).toBe('{"text":"a\\"b\\nAA==)"}');
  });
});
