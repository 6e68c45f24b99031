import { expect, test } from 'vitest';
import { toLine, type ExchangeRecord } from '#usage/index.ts';
import { lineColumns } from '#usage/record-line.ts';
import { completeRecord } from './stored-lines.ts';

/** The same with one thing in it changed, for each thing in it. */
function* variantsOf(
  value: unknown,
  path = '',
): Generator<readonly [path: string, value: unknown]> {
  if (typeof value !== 'object' || value === null) {
    yield [path, changed(value)];
    return;
  }
  for (const [member, part] of Object.entries(value)) {
    for (const [where, variant] of variantsOf(part, `${path}.${member}`)) {
      const copy: object = structuredClone(value);
      yield [where, Object.assign(copy, { [member]: variant })];
    }
  }
}

function changed(value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  return typeof value === 'number' ? value + 1 : `${String(value)}x`;
}

test.each([...variantsOf(completeRecord)])('a line tells %s', (_, variant) => {
  expect(toLine(variant as ExchangeRecord)).not.toBe(toLine(completeRecord));
});

test('every column of a complete record has a value', () => {
  const values = JSON.parse(toLine(completeRecord)) as unknown[];
  expect(values).toHaveLength(lineColumns.length);
  expect(values).not.toContain(null);
});

test('a column never stands before those of earlier versions', () => {
  const versions = lineColumns.map(({ since }) => since);
  expect(versions).toEqual(versions.toSorted((a, b) => a - b));
});
