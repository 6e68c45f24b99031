import { expect, test } from 'vitest';
import { toCsv } from './csv.ts';

test('what a spreadsheet would compute is text, and numbers stay numbers', () => {
  expect(
    toCsv([
      ['name', 'cost'],
      ['=1+1', '0.5'],
      ['a,"b"', -3],
    ]),
  ).toBe(`name,cost\r\n'=1+1,0.5\r\n"a,""b""",-3\r\n`);
});
