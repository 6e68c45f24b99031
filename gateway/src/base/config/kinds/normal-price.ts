import { camelCase } from '../collection.ts';
import { parseDecimal, scaled, shortestDecimal } from '../decimal.ts';
import { type DeclaredPrice, type PriceColumn, type PricePart, priceParts } from './price.ts';

/**
 * The normal form of a stored price: known parts only, in a fixed order, numbers in their shortest form. Equal prices
 * are equal JSON. Null if any part is invalid.
 */
export function normalPrice(value: unknown): DeclaredPrice | null {
  const parts = normalMembers(value, priceParts, normalPart);
  return parts && Object.freeze(parts as DeclaredPrice);
}

/** Null: it is invalid. */
function normalPart({ rows, columns }: PricePart, value: unknown): unknown {
  const [first] = columns;
  const read = (row: unknown) =>
    first?.name === '' ? normalValue(first, row) : normalRow(columns, row);
  if (rows === 'value') return read(value);
  return rows === 'list' ? normalList(columns, value, read) : normalEntries(value, read);
}

function normalValue({ form, places }: PriceColumn, value: unknown): string | number | null {
  if (form === 'count') return Number.isSafeInteger(value) ? Number(value) : null;
  if (typeof value !== 'string' || form === 'text') return typeof value === 'string' ? value : null;
  const digits = parseDecimal(value);
  const exact = digits === null ? null : scaled(digits, places);
  return digits === null || exact === null || exact < 0n ? null : shortestDecimal(digits);
}

/** At least one figure, and all that are required. */
function normalRow(columns: readonly PriceColumn[], value: unknown): Values | null {
  const row = normalMembers(value, columns, normalValue);
  const has = ({ name }: PriceColumn) => row?.[camelCase(name)] !== undefined;
  const isWhole = columns.every((column) => !column.required || has(column));
  return isWhole && columns.some((column) => column.places > 0 && has(column)) ? row : null;
}

/** Rows by their count, which grows: the first that matches wins, so a smaller one after a larger one is unreachable. */
function normalList(
  columns: readonly PriceColumn[],
  value: unknown,
  read: (row: unknown) => unknown,
): readonly unknown[] | null {
  const key = camelCase(columns.find(({ form }) => form === 'count')?.name ?? '');
  const rows = Array.isArray(value) ? value.map(read) : [];
  const counts = [0, ...rows.map((row) => Number(isMapping(row) ? row[key] : 0))];
  const isAscending = counts.every((count, at) => at === 0 || count > Number(counts[at - 1]));
  return rows.length > 0 && isAscending ? rows : null;
}

/** In a fixed order by name; null if there are none or one is invalid. */
function normalEntries(value: unknown, read: (entry: unknown) => unknown): Values | null {
  if (!isMapping(value)) return null;
  const names = Object.keys(value).toSorted();
  const entries = names.map((name) => [name, read(value[name])] as const);
  return entries.length === 0 || entries.some(([, entry]) => entry === null)
    ? null
    : Object.fromEntries(entries);
}

/** Of a mapping those members that are described, in this order; null if one is invalid. */
function normalMembers<Of extends { readonly name: string }>(
  value: unknown,
  described: readonly Of[],
  read: (of: Of, member: unknown) => unknown,
): Values | null {
  if (!isMapping(value)) return null;
  const members = described.flatMap((of) => {
    const name = camelCase(of.name);
    return value[name] === undefined ? [] : [[name, read(of, value[name])] as const];
  });
  return members.some(([, member]) => member === null) ? null : Object.fromEntries(members);
}

type Values = Readonly<Record<string, unknown>>;

function isMapping(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
