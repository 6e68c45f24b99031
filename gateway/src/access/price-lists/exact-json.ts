import { parseDecimal, shortestDecimal } from '#config/decimal.ts';

/** A number of a JSON file as it is written there: `7.5e-08` is 75 of 10⁻⁹, and never a float. */
export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  /** Plain decimal digits of the number × 10^`shift`; null for one with an exponent beyond reason. */
  decimal(shift = 0): string | null {
    const [mantissa = '', exponent = '0'] = this.source.toLowerCase().split('e');
    const digits = parseDecimal(`${mantissa}e${Number(exponent) + shift}`);
    return digits === null ? null : shortestDecimal(digits);
  }

  /** The number when it is a count above zero. */
  count(): number | null {
    const value = Number(this.source);
    return Number.isSafeInteger(value) && value > 0 ? value : null;
  }
}

export type ExactMapping = Readonly<Record<string, unknown>>;

/** @throws SyntaxError when it is not JSON, or nested more deeply than can be read. */
export function parseExactJson(text: string): unknown {
  try {
    return JSON.parse(text, (_, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' ? new ExactNumber(context?.source ?? String(value)) : value,
    );
  } catch (error) {
    // The values are visited by recursion.
    if (error instanceof RangeError) throw new SyntaxError('nested too deeply', { cause: error });
    throw error;
  }
}

export function isExactMapping(value: unknown): value is ExactMapping {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof ExactNumber)
  );
}
