import type { Body, FieldProblem, Result } from '../../api/client.ts';

export type PricePart = Result<'readModelForm'>['price'][number];
export type ModelType = PricePart['types'][number];

/** What stands in the fields of a row. */
export interface Row {
  /** Of a part whose rows have names; empty otherwise. */
  readonly name: string;
  /** By their columns. */
  readonly values: Readonly<Record<string, string>>;
}

/** The rows of each part; one, without a name, of a part that is a value. */
export type PriceDraft = Readonly<Record<string, readonly Row[]>>;

type Values = Readonly<Record<string, unknown>>;
/** As the API takes it; null: none. */
export type Price = Body<'previewPrice'>['price'] | null;
type Value = NonNullable<Price>[string];

const rowOf = (value: unknown, name = ''): Row => {
  const values = typeof value === 'object' && value !== null ? value : { '': value };
  const texts = Object.entries(values).map(([column, text]) => [column, String(text)]);
  return { name, values: Object.fromEntries(texts) as Row['values'] };
};

/** @param price as the API has it */
export function draftOf(price: Values | null, parts: readonly PricePart[]): PriceDraft {
  const rowsOf = ({ name, rows }: PricePart): readonly Row[] => {
    const value = price?.[name];
    if (value === undefined || value === null) return [];
    if (rows === 'value') return [rowOf(value)];
    if (rows === 'list') return (value as readonly unknown[]).map((each) => rowOf(each));
    return Object.entries(value as Values).map(([key, each]) => rowOf(each, key));
  };
  return Object.fromEntries(parts.map((part) => [part.name, rowsOf(part)]));
}

const isEmpty = ({ name, values }: Row): boolean =>
  name.trim() === '' && Object.values(values).every((text) => text.trim() === '');

/** The parts that models of a type can be charged by, and those that the price has in any case. */
export const partsFor = (
  parts: readonly PricePart[],
  type: ModelType,
  draft: PriceDraft,
): readonly PricePart[] =>
  parts.filter(
    ({ name, types }) => types.includes(type) || draft[name]?.some((row) => !isEmpty(row)) === true,
  );

const plainName = /^[A-Za-z_][\w-]*$/;
const step = (name: string) => (plainName.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`);

/** Where the API sees a row: its place among those that are sent, or its name. */
export function pathOf({ name, rows }: PricePart, draft: PriceDraft, at: number): string {
  const all = draft[name] ?? [];
  if (rows === 'value') return `price.${name}`;
  if (rows === 'names') return `price.${name}${step(all[at]?.name.trim() ?? '')}`;
  return `price.${name}[${all.slice(0, at).filter((row) => !isEmpty(row)).length}]`;
}

/** The same of a value in it. */
export const cellPath = (path: string, column: string): string =>
  column === '' ? path : `${path}.${column}`;

/** What a body has of a draft; null: nothing. Any other text in a number's field is refused by the API. */
export function priceOf(draft: PriceDraft, parts: readonly PricePart[]): Price {
  const valuesOf = ({ columns }: PricePart, { values }: Row): Value => {
    const given = columns.flatMap(({ name, form }) => {
      const text = values[name]?.trim() ?? '';
      if (text === '') return [];
      const isCount = form === 'count' && /^\d{1,15}$/.test(text);
      return [[name, isCount ? Number(text) : text] as const];
    });
    // A name without its value is refused at its place.
    return columns[0]?.name === '' ? (given[0]?.[1] ?? '') : Object.fromEntries(given);
  };
  const entries = parts.flatMap((part): (readonly [string, Value])[] => {
    const rows = (draft[part.name] ?? []).filter((row) => !isEmpty(row));
    const [first] = rows;
    if (first === undefined) return [];
    if (part.rows === 'value') return [[part.name, valuesOf(part, first)]];
    const values = rows.map((row) => [row.name.trim(), valuesOf(part, row)] as const);
    if (part.rows === 'names') return [[part.name, Object.fromEntries(values)]];
    return [[part.name, values.map(([, each]) => each)]];
  });
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

/** Names that a body cannot have: none, and the same twice. */
export function nameProblems(
  draft: PriceDraft,
  parts: readonly PricePart[],
  messages: { readonly none: string; readonly twice: string },
): readonly FieldProblem[] {
  return parts.flatMap((part) => {
    if (part.rows !== 'names') return [];
    const rows = (draft[part.name] ?? []).map((row, at) => ({ row, at }));
    const names = rows.map(({ row }) => row.name.trim());
    return rows
      .filter(
        ({ row, at }) => !isEmpty(row) && (names[at] === '' || names.indexOf(names[at] ?? '') < at),
      )
      .map(({ at }) => ({
        path: pathOf(part, draft, at),
        message: names[at] === '' ? messages.none : messages.twice,
      }));
  });
}
