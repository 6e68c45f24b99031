import { columns, type ExchangeRecord } from './record.ts';

/** The values of a line in their order. */
export const lineColumns = Object.entries(columns).map(([name, column], position) => {
  const [type, , { since = 1, before = null } = {}] = column as AnyColumn;
  return { name: name as LineColumn, type, position, since, before };
});

type AnyColumn = readonly [
  type: (typeof columns)[LineColumn][0],
  read: unknown,
  history?: { readonly since: number; readonly before?: string | number },
];

export type LineColumn = keyof typeof columns;

/** The position of a column in a line. */
export const positionOf = Object.fromEntries(
  lineColumns.map(({ name, position }) => [name, position]),
) as Record<LineColumn, number>;

/** The columns of the usage row, and the position of each in a line. */
export const usageColumns = lineColumns.filter(({ type }) => type !== 'beside');

/** Stored with each batch of lines, because a journal may be older than the program that reads it. */
export const lineVersion = Math.max(...lineColumns.map(({ since }) => since));

const reads = Object.values(columns).map(([, read]) => read);

/** Reused for each line: a new array per line costs 5 % more. */
const values: unknown[] = reads.map(() => null);

/**
 * One exchange as one line: a JSON array without column names. Writing it costs a third of the object with names, and
 * it is half as long.
 */
export function toLine(record: ExchangeRecord): string {
  for (let at = 0; at < reads.length; at += 1) values[at] = reads[at]!(record);
  const line = JSON.stringify(values);
  // Searching for the escape alone is much faster than the pattern.
  return line.includes('\\u') && unstorable.test(line) ? JSON.stringify(values, storable) : line;
}

/** NUL and lone surrogates, as JSON writes them: PostgreSQL refuses both in text, and with them the whole batch. */
const unstorable = /\\u(?:0000|d[89a-f])/;

function storable(_: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value;
}
