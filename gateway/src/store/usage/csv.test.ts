import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvLine } from './csv.ts';

const cellOf = (text: string) => csvLine([text]).slice(0, -2);

describe('a cell', () => {
  test.each([
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1',
    '\r\n=1',
    ' =1',
    '＝1',
    '＋1',
    '－1',
    '＠x',
    '\ufeff=1',
    '\u202e=1',
  ])('%j is text to a spreadsheet', (text) => {
    expect(cellOf(text)).toMatch(/^' ?[=+\-@＝＋－＠]/u);
  });

  test.each([
    ['gpt-5', 'gpt-5'],
    ['a=b', 'a=b'],
    ['say "hi", all', '"say ""hi"", all"'],
    ['a\u0000b\u001b[31mc\u0085d\u007fe', 'ab[31mcde'],
    ['two\r\nlines', 'twolines'],
    ['日本語', '日本語'],
  ])('%j is written as %j', (text, written) => {
    expect(cellOf(text)).toBe(written);
  });

  test('of any text is one cell without control characters, and no formula', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const written = cellOf(text);
        expect(written).not.toMatch(/\p{Cc}/u);
        const inner = written.startsWith('"')
          ? written.slice(1, -1).replaceAll('""', '"')
          : written;
        expect(inner).not.toMatch(/^\s*[=+\-@＝＋－＠]/u);
        expect(/^(?:[^",]*|"(?:[^"]|"")*")$/.test(written)).toBe(true);
      }),
    );
  });

  test('numbers stay numbers, and nothing is nothing', () => {
    expect(csvLine([-1, null, 0])).toBe('-1,,0\r\n');
    expect(csvLine([{ amount: '-1000000000.000000001' }])).toBe('-1000000000.000000001\r\n');
  });
});
