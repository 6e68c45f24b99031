import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InputUnwrapper, unwrapInput, wrapInput } from './custom-input.ts';

const unwrapped = (pieces: readonly string[]) => {
  const unwrapper = new InputUnwrapper();
  return pieces.map((piece) => unwrapper.push(piece)).join('') + unwrapper.end();
};

const cut = (text: string, places: readonly number[]) => {
  const cuts = [...new Set([0, text.length, ...places.map((at) => at % (text.length + 1))])];
  cuts.sort((a, b) => a - b);
  return cuts.slice(1).map((end, index) => text.slice(cuts[index], end));
};

describe('free text in a function', () => {
  test('comes back unchanged, however its arguments are split', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat()), (text, places) => {
        expect(unwrapInput(wrapInput(text))).toBe(text);
        expect(unwrapped(cut(wrapInput(text), places))).toBe(text);
      }),
    );
  });

  test('flows before its end has arrived', () => {
    const unwrapper = new InputUnwrapper();
    expect(unwrapper.push('{"input": "*** Begin')).toBe('*** Begin');
    expect(unwrapper.push(' Patch\\')).toBe(' Patch');
    expect(unwrapper.push('nmore')).toBe('\nmore');
  });

  test.each([
    ['{"text":"x","input":"late"}', 'late'],
    ['just text', 'just text'],
    ['{"input":{"a":1}}', '{"a":1}'],
    ['', ''],
  ])('another form, %s, is understood at the end', (json, text) => {
    expect(unwrapped(json.split(''))).toBe(text);
    expect(unwrapInput(json)).toBe(text);
  });

  test('unescaped line breaks of a model are accepted', () => {
    expect(unwrapped(['{"input":"a\nb"}'])).toBe('a\nb');
  });
});
