import { parseDecimal, scaled } from './decimal.ts';

const durations: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const sizes: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/** `1.5s` → 1500. Null unless it is a whole number of milliseconds with a unit. */
export function parseDuration(text: string): number | null {
  return withUnit(text, durations);
}

/** `64MiB` → 67108864. Null unless it is a whole number of bytes with a unit. */
export function parseSize(text: string): number | null {
  return withUnit(text, sizes);
}

/** The shortest exact spelling: 90000 → `90s`. */
export function formatDuration(milliseconds: number): string {
  return inLargestUnit(milliseconds, durations);
}

/** The same of bytes: 67108864 → `64MiB`. */
export function formatSize(bytes: number): string {
  return inLargestUnit(bytes, sizes);
}

function inLargestUnit(value: number, units: Readonly<Record<string, number>>): string {
  const [unit = '', factor = 1] =
    Object.entries(units).findLast(([, each]) => value % each === 0) ?? [];
  return `${value / factor}${unit}`;
}

function withUnit(text: string, units: Readonly<Record<string, number>>): number | null {
  const match = /^(\d{1,15}(?:\.\d{1,9})?) ?([A-Za-z]+)$/.exec(text);
  const factor = Object.hasOwn(units, match?.[2] ?? '') ? units[match?.[2] ?? ''] : undefined;
  const decimal = parseDecimal(match?.[1] ?? '');
  if (factor === undefined || decimal === null) return null;
  const product = (scaled(decimal, 9) ?? 0n) * BigInt(factor);
  const value = Number(product / 1_000_000_000n);
  return product % 1_000_000_000n === 0n && Number.isSafeInteger(value) ? value : null;
}
