import { expect, test } from 'vitest';
import { readLines, RecordError } from './read-lines.ts';
import { lineColumns, lineVersion } from './record-line.ts';

const line = (length: number) => JSON.stringify(Array.from({ length }, () => null));
const width = lineColumns.length;

test('lines of a newer version are refused as a whole, and none of them is called damaged', () => {
  const newer = { version: lineVersion + 1, lines: line(width + 1) };
  const read = () => readLines([{ version: lineVersion, lines: line(width) }, newer]);
  expect(read).toThrow(
    `usage records are of version ${lineVersion + 1}, this version of sluice reads`,
  );
  expect(read).not.toThrow(RecordError);
});

test.each([
  ['is too short', lineVersion, line(width - 1)],
  ['is too long', lineVersion, line(width + 1)],
  ['is too short for its earlier version', 1, line(27)],
  ['is as long as one of today, and of an earlier version', 1, line(width)],
  ['is no list', lineVersion, '{"id":"req_1"}'],
  ['is null', lineVersion, 'null'],
])('a line that %s is damaged', (_, version, lines) => {
  expect(() => readLines([{ version, lines }])).toThrow(RecordError);
});
