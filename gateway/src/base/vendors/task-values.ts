import type { TaskUsage } from '#canonical/index.ts';

type JsonObject = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : null;
}

const longestId = 200;

/** An upstream's id; null for anything that cannot be one. */
export function idOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= longestId ? value : null;
}

/** The code of a failed task, if it looks like one: it may be shown, the vendor's text may not. */
export function failureCodeOf(value: unknown): string | null {
  return typeof value === 'string' && /^[A-Za-z.]{1,100}$/.test(value) ? value : null;
}

/** An address that clients may be given; null for anything else. */
export function addressOf(value: unknown): string | null {
  return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value)
    ? value
    : null;
}

const longestText = 8_192;

/** The members of these names that are plain values: numbers, flags and texts of a usual length. */
export function plainMembers(from: JsonObject, names: readonly string[]): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const name of names) {
    const value = from[name];
    const isPlain =
      typeof value === 'boolean' ||
      (typeof value === 'number' && Number.isFinite(value)) ||
      (typeof value === 'string' && value.length <= longestText);
    if (isPlain) found[name] = value;
  }
  return found;
}

/** What a vendor reported, whatever it is. Text of digits is a number. */
export function usageOf(value: unknown, perUnit: number): TaskUsage {
  if (value === undefined || value === null) return notReported;
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number') return implausible;
  const quantity = perUnit === 1 ? number : Math.round(number * perUnit);
  return Number.isSafeInteger(quantity) && quantity >= 0
    ? { quantity, isImplausible: false }
    : implausible;
}

export const notReported: TaskUsage = Object.freeze({ quantity: null, isImplausible: false });
const implausible: TaskUsage = Object.freeze({ quantity: null, isImplausible: true });
