/** The lowest first, or with a sign the highest first. */
export type OrderBy<Column extends string> = Column | `-${Column}`;

/** What an address says of the order of a table with these columns; undefined: nothing that is known. */
export function readOrder<Column extends string>(
  columns: readonly Column[],
  value: unknown,
): OrderBy<Column> | undefined {
  return columns.flatMap((each) => [each, `-${each}` as const]).find((each) => each === value);
}

/** What is asked for when the head of a column is pressed: what is read first, then the other way, then none. */
export function nextOrder<Column extends string>(
  column: Column,
  order: OrderBy<Column> | undefined,
  isHighFirst: boolean,
): OrderBy<Column> | undefined {
  const first = isHighFirst ? (`-${column}` as const) : column;
  const second = isHighFirst ? column : (`-${column}` as const);
  if (order === first) return second;
  return order === second ? undefined : first;
}

/** In this order; without one, as they came. Rows without a value come last either way. */
export function inOrder<Row, Column extends string>(
  rows: readonly Row[],
  order: OrderBy<Column> | undefined,
  valueOf: Readonly<Record<Column, (row: Row) => number | string | null>>,
): readonly Row[] {
  if (order === undefined) return rows;
  const sign = order.startsWith('-') ? -1 : 1;
  const value = valueOf[order.replace('-', '') as Column];
  return rows.toSorted((a, b) => {
    const [left, right] = [value(a), value(b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    if (typeof left === 'number' && typeof right === 'number') return sign * (left - right);
    return sign * String(left).localeCompare(String(right), 'en');
  });
}
