import fc from 'fast-check';
import { expect, it } from 'vitest';
import { outlineOf } from '#json/index.ts';
import { jsonText, jsonValue } from './json-text.ts';

const longest = 12;

it('The outline of JSON is its value with long texts cut', () => {
  const text = jsonValue.chain((value) => fc.tuple(fc.constant(value), jsonText(value)));
  fc.assert(
    fc.property(text, ([value, written]) => {
      const outline = outlineOf(Buffer.from(written), longest);
      expect(isBeginning(JSON.parse(String(outline)), JSON.parse(written))).toBe(true);
      void value;
    }),
  );
});

it('Text is JSON exactly if its outline is, whatever was done to it', () => {
  const pieces = fc.constantFrom(
    '"',
    '\\',
    '\\u00',
    '{',
    '}',
    '\n',
    '\0',
    'é',
    '🙂',
    'x',
    ',',
    '0',
  );
  const broken = fc
    .tuple(jsonValue.chain(jsonText), fc.nat(), fc.nat(4), pieces)
    .map(([text, at, length, piece]) => {
      const from = at % (text.length + 1);
      // UTF-8 holds no half of a character.
      return Buffer.from(text.slice(0, from) + piece + text.slice(from + length)).toString();
    });
  fc.assert(
    fc.property(broken, (text) => {
      const outline = outlineOf(Buffer.from(text), longest);
      expect(outline !== null && isJson(String(outline))).toBe(isJson(text));
    }),
    { numRuns: 2000 },
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether one value is the other with every long text cut somewhere. Keys are texts too, so they are left out. */
function isBeginning(cut: unknown, whole: unknown): boolean {
  if (typeof cut === 'string' && typeof whole === 'string') {
    return whole.startsWith(cut) && (cut === whole || Buffer.byteLength(cut) <= longest);
  }
  if (Array.isArray(cut) && Array.isArray(whole)) {
    return cut.length === whole.length && cut.every((item, at) => isBeginning(item, whole[at]));
  }
  if (typeof cut === 'object' && cut !== null) return typeof whole === 'object' && whole !== null;
  return cut === whole;
}
