import { parseDecimal, shortestDecimal } from '#config/decimal.ts';

/** A number of a JSON file exactly as written: `7.5e-08` is 75 × 10⁻⁹, never a float. */
export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  /** Plain decimal digits of the number × 10^`shift`; null if the exponent is unreasonable. */
  decimal(shift = 0): string | null {
    const [mantissa = '', exponent = '0'] = this.source.toLowerCase().split('e');
    const digits = parseDecimal(`${mantissa}e${Number(exponent) + shift}`);
    return digits === null ? null : shortestDecimal(digits);
  }

  /** The number if it is a count above zero. */
  count(): number | null {
    const value = Number(this.source);
    return Number.isSafeInteger(value) && value > 0 ? value : null;
  }
}

export type ExactMapping = Readonly<Record<string, unknown>>;

/** @throws SyntaxError if it is not JSON, or is nested too deeply. */
export function parseExactJson(text: string): unknown {
  try {
    return JSON.parse(text, (_, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' ? new ExactNumber(context?.source ?? String(value)) : value,
    );
  } catch (error) {
    // The values are visited recursively.
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
