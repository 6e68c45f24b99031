import { parseUsd } from '#database/index.ts';

/** What a value of a filter asks of a row. Bounds are whole numbers and belong to it; null: there is none. */
export type Test =
  | { readonly kind: 'is' | 'begins' | 'contains'; readonly text: string }
  | { readonly kind: 'within'; readonly least: bigint | null; readonly most: bigint | null };

/** Reads a value, with its quotes. Gives what is expected instead if it cannot be read. */
export type ReadValue = (value: string) => Test | string;

export const unquote = (value: string): string => value.replaceAll('"', '');

/** A trailing `*` stands for any end. */
export function readText(value: string): Test | string {
  if (/^[<>=]/.test(value)) return 'expected a name; only numbers are compared';
  const text = unquote(value);
  return text.endsWith('*') ? { kind: 'begins', text: text.slice(0, -1) } : { kind: 'is', text };
}

export function readYesOrNo(value: string): Test | string {
  const text = unquote(value);
  return text === 'yes' || text === 'no' ? { kind: 'is', text } : 'expected yes or no';
}

export function readStatus(value: string): Test | string {
  const [, sign = '', digits = ''] = /^([<>]?=?)([1-5](?:\d\d|xx))$/.exec(unquote(value)) ?? [];
  if (digits.endsWith('xx')) {
    const first = BigInt(digits.slice(0, 1)) * 100n;
    if (sign === '') return { kind: 'within', least: first, most: first + 99n };
  } else if (digits !== '') return bounds(sign === '' ? '=' : sign, BigInt(digits), true);
  return 'expected a status such as 429, a class such as 4xx, or a bound such as >=400';
}

/** Without a sign: at least. */
export function readAmount(value: string): Test | string {
  const [, sign = '', amount] = /^([<>]?=?)(\d{1,9}(?:\.\d{1,9})?)$/.exec(unquote(value)) ?? [];
  return amount === undefined
    ? 'expected an amount in USD such as >0.01'
    : bounds(sign === '' ? '>=' : sign, parseUsd(amount), true);
}

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Without a sign: at least. Without a unit: milliseconds. */
export function readDuration(value: string): Test | string {
  const [, sign = '', digits, unit = 'ms'] =
    /^([<>]?=?)(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)?$/.exec(unquote(value)) ?? [];
  if (digits === undefined) return 'expected a time such as >2s or >=500ms';
  const time = Number(digits) * units[unit as keyof typeof units];
  return bounds(sign === '' ? '>=' : sign, BigInt(Math.floor(time)), Number.isInteger(time));
}

/** @param isWhole false: the number is a little more than `value` */
function bounds(sign: string, value: bigint, isWhole: boolean): Test {
  const [least, most] = {
    '=': [isWhole ? value : value + 1n, value],
    '>=': [isWhole ? value : value + 1n, null],
    '>': [value + 1n, null],
    '<=': [null, value],
    '<': [null, isWhole ? value - 1n : value],
  }[sign] ?? [null, null];
  return { kind: 'within', least: least ?? null, most: most ?? null };
}
