import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectLinear as assertLinear } from '#test/support/growth.ts';
import { countedLength, countTexts } from './count-text.ts';

describe('counting texts', () => {
  it('is exact for ordinary text, each text separately', () => {
    fc.assert(
      fc.property(fc.array(fc.lorem({ maxCount: 40, mode: 'sentences' })), (texts) => {
        expect(countTexts(texts)).toBe(texts.reduce((sum, text) => sum + countTokens(text), 0));
      }),
    );
    expect(countTexts([])).toBe(0);
    expect(countTexts(['<|endoftext|> and <|im_start|>'])).toBeGreaterThan(5);
  });

  it('is hardly more where words have no end', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 900 }),
        fc.constantFrom('a', '的', ' ', '=', '👍', 'xy'),
        (count, unit) => {
          const text = `before ${unit.repeat(count)} after`;
          const exact = countTokens(text);
          const counted = countTexts([text]);
          const pieces = Math.ceil(text.length / 64);
          expect(counted).toBeGreaterThanOrEqual(exact - 2);
          expect(counted).toBeLessThanOrEqual(exact + 3 * pieces);
        },
      ),
    );
  });

  it('samples long texts', () => {
    const sentence = 'The quick brown fox jumps over the lazy dog; 42 times.\n';
    const text = sentence.repeat(Math.ceil((3 * countedLength) / sentence.length));
    const exact = countTokens(sentence) * (text.length / sentence.length);
    expect(Math.abs(countTexts([text]) / exact - 1)).toBeLessThan(0.02);
    const halves = [text, '的一是了我不人在他有这个上们'.repeat(text.length / 14)];
    const both = exact + countTokens('的一是了我不人在他有这个上们') * Math.floor(text.length / 14);
    expect(Math.abs(countTexts(halves) / both - 1)).toBeLessThan(0.1);
  });

  it.each(['a', '的', ' ', '\n', '0', 'Ab', '\u0301'])(
    'a long run of %j is counted in linear time',
    (unit) => {
      assertLinear((size) => {
        const text = unit.repeat(size);
        return () => countTexts([text]);
      });
    },
  );
});
