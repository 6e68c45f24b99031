import { z } from 'zod';
import { parseDecimal, scaled } from './decimal.ts';
import { didYouMean } from './near.ts';
import { isAddressRange } from './network.ts';
import { describe, isAbsent, quote, Scalar } from './scalar.ts';
import { formatDuration, formatSize, parseDuration, parseSize } from './units.ts';

/** What a leaf finds wrong; `issues.ts` turns it into a problem with its line. */
export interface LeafIssue {
  readonly expected: string;
  readonly got: string;
}

export interface LeafOptions {
  /** The value for a missing, `null` or (strings) empty input. Without a fallback such an input is a problem. */
  readonly fallback?: unknown;
  /** The value never appears in a message. */
  readonly secret?: boolean;
  /** The value as a file has it; absent: as it is. */
  readonly write?: (value: never) => unknown;
  /** What is shown of the value; absent: all of it, or nothing of a secret. */
  readonly show?: (value: never) => unknown;
}

/** What is known of a leaf besides its value. */
export const leafFacts = z.registry<Pick<LeafOptions, 'secret' | 'write' | 'show'>>();

type FallbackOf<Options> = Options extends { readonly fallback: infer Fallback } ? Fallback : never;

/** A scalar. `read` returns its value, undefined if it is wrong, or a `WrongBecause` with a more exact complaint. */
export function leaf<Value, const Options extends LeafOptions = {}>(
  expected: string,
  read: (scalar: Scalar) => Value | undefined | WrongBecause,
  options?: Options,
) {
  const schema = z.unknown().transform((input, context): Value | FallbackOf<Options> => {
    const fail = (issue: LeafIssue | null) => {
      context.issues.push({ code: 'custom', input, message: '', params: { issue } });
      return z.NEVER;
    };
    if (input instanceof Scalar && input.broken) return fail(null);
    if (isAbsent(input) || (input instanceof Scalar && input.value === '')) {
      if (options !== undefined && 'fallback' in options)
        return options.fallback as FallbackOf<Options>;
      return fail({ expected, got: describe(input, options?.secret) });
    }
    const value = input instanceof Scalar ? read(input) : undefined;
    if (value instanceof WrongBecause) return fail({ expected: value.expected, got: value.got });
    if (value !== undefined) return value;
    return fail({ expected, got: describe(input, options?.secret) });
  });
  if (options !== undefined) leafFacts.add(schema, options);
  return schema;
}

/** A more exact complaint than the leaf's own. */
export class WrongBecause {
  readonly expected: string;
  readonly got: string;

  constructor(expected: string, got: string) {
    this.expected = expected;
    this.got = got;
  }
}

/**
 * A text that `accept` accepts.
 * @param expected the description of a valid value, for problems
 */
export function string<const Options extends LeafOptions = {}>(
  expected: string,
  accept: (text: string) => boolean,
  options?: Options,
) {
  return leaf(
    expected,
    ({ value }) => (typeof value === 'string' && accept(value) ? value : undefined),
    options,
  );
}

/** A name for people and machines: printable, without spaces at either end. */
export function name<const Options extends LeafOptions = {}>(expected: string, options?: Options) {
  return leaf(
    expected,
    ({ value, source }) => {
      if (typeof value === 'string') return isName(value) ? value : undefined;
      return new WrongBecause(`${expected} in quotes`, source.slice(0, 40));
    },
    options,
  );
}

/** Whether the text can be a name: people type it and messages show it. */
export function isName(text: string): boolean {
  return text.length <= 200 && text.trim() === text && !/[\p{Cc}\p{Cs}]/u.test(text);
}

/** Digits only: `1e3`, `0x10` and `1.0` are not how people write a count. */
export function integer<const Options extends LeafOptions = {}>(
  minimum: number,
  maximum: number,
  options?: Options,
) {
  return leaf(
    `a whole number from ${minimum} to ${maximum}`,
    (scalar) => {
      if (typeof scalar.value !== 'number' && !scalar.expanded) return undefined;
      const text = scalar.expanded ? String(scalar.value) : scalar.source;
      if (!/^[-+]?\d{1,16}$/.test(text)) return undefined;
      const value = Number(text);
      return value >= minimum && value <= maximum ? value : undefined;
    },
    options,
  );
}

/** `true` or `false`; as text only where a variable was filled in. */
export function flag<const Options extends LeafOptions = {}>(options?: Options) {
  return leaf(
    'true or false',
    ({ value, expanded }) => {
      if (typeof value === 'boolean') return value;
      return expanded && (value === 'true' || value === 'false') ? value === 'true' : undefined;
    },
    options,
  );
}

/** One of these words. */
export function oneOf<const Value extends string, const Options extends LeafOptions = {}>(
  values: readonly Value[],
  options?: Options,
) {
  const expected = values.length === 2 ? values.join(' or ') : `one of ${values.join(', ')}`;
  return leaf(
    expected,
    ({ value, expanded }) => {
      const match = values.find((candidate) => candidate === value);
      if (match !== undefined || expanded || typeof value !== 'string') return match;
      return new WrongBecause(expected, quote(value) + didYouMean(value, values));
    },
    options,
  );
}

export interface DecimalRange {
  readonly places: number;
  readonly minimum: string;
  readonly maximum: string;
}

/** A decimal string or number, kept digit by digit. */
export function decimal<const Options extends LeafOptions = {}>(
  what: string,
  range: DecimalRange,
  options?: Options,
) {
  const [least, most] = [scaled(range.minimum, range.places), scaled(range.maximum, range.places)];
  return leaf(
    `${what} from ${range.minimum} to ${range.maximum} with at most ${range.places} decimals`,
    (scalar) => {
      if (typeof scalar.value === 'boolean') return undefined;
      const text = parseDecimal(
        typeof scalar.value === 'number' ? scalar.source : String(scalar.value),
      );
      const exact = text === null ? null : scaled(text, range.places);
      if (text === null || exact === null || least === null || most === null) return undefined;
      return exact >= least && exact <= most ? text : undefined;
    },
    options,
  );
}

/** Amounts are kept as integers of 10⁻⁹ USD. */
export const usd = { places: 9, minimum: '0', maximum: '1000000000' };

/** An address, or a range in CIDR notation. */
export function addressRange() {
  return string('an address or a range such as 10.0.0.0/8', isAddressRange);
}

export const emailAddress = <const Options extends LeafOptions = {}>(options?: Options) =>
  leaf(
    'an e-mail address',
    ({ value }) => (typeof value === 'string' && isEmail(value) ? value.toLowerCase() : undefined),
    options,
  );

/** Addresses are compared in lower case, as people expect. */
function isEmail(text: string): boolean {
  // No control character, none that turns the text around, and no half of one: databases store another.
  const isPrinted = !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(text);
  return text.length <= 254 && isPrinted && /^[^\s@"<>]+@[^\s@"<>]+$/.test(text);
}

/** A Node timer fires at once if its delay exceeds 2³¹ ms, so no setting that becomes a delay may be longer. */
export const longestTimer = 24 * 86_400_000;

/** Milliseconds within the bounds; written as in `30s`. */
export function duration<const Options extends LeafOptions = {}>(
  minimum: number,
  maximum: number,
  options?: Options,
) {
  return leaf(
    'a duration such as 500ms, 30s, 5m or 24h',
    ({ value }) => {
      // Nothing needs no unit.
      const milliseconds =
        typeof value === 'string' ? parseDuration(value) : value === 0 ? 0 : null;
      if (milliseconds === null) return undefined;
      if (milliseconds >= minimum && milliseconds <= maximum) return milliseconds;
      if (milliseconds > maximum) {
        return new WrongBecause(`a duration of at most ${maximum / 86_400_000}d`, 'more');
      }
      return minimum === 1
        ? new WrongBecause('a duration above zero', '0')
        : new WrongBecause(`a duration of at least ${minimum / 1_000}s`, 'less');
    },
    { ...(options as Options), write: orZero(formatDuration) },
  );
}

/** Bytes, at least 1; written as in `64MiB`. */
export function size<const Options extends LeafOptions = {}>(options?: Options) {
  return leaf(
    'a size such as 64KiB, 64MiB or 4GiB',
    ({ value }) => {
      const bytes = typeof value === 'string' ? parseSize(value) : null;
      return bytes === null || bytes === 0 ? undefined : bytes;
    },
    { ...(options as Options), write: orZero(formatSize) },
  );
}

/** Nothing needs no unit. */
const orZero = (format: (value: number) => string) => (value: number) =>
  value === 0 ? 0 : format(value);

/** The same, or 0 for nothing at all. */
export function sizeOrNone<const Options extends LeafOptions = {}>(options?: Options) {
  return leaf(
    'a size such as 64KiB or 64MiB, or 0',
    ({ value }) => {
      if (value === 0 || value === '0') return 0;
      return typeof value === 'string' ? (parseSize(value) ?? undefined) : undefined;
    },
    { ...(options as Options), write: orZero(formatSize) },
  );
}

/** RFC 3339 with a zone, as Unix milliseconds. */
export function timestamp<const Options extends LeafOptions = {}>(options?: Options) {
  return leaf(
    'a time with its zone such as 2027-01-01T00:00:00Z',
    ({ value }) => (typeof value === 'string' ? (parseTimestamp(value) ?? undefined) : undefined),
    options,
  );
}

const rfc3339 =
  /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(\.\d{1,9})?([Zz]|[-+]([01]\d|2[0-3]):[0-5]\d)$/;

/** Null if it is not a real moment; 30 February is not. */
export function parseTimestamp(text: string): number | null {
  const match = rfc3339.exec(text);
  if (match === null) return null;
  const local = new Date(`${match[1]}T${match[2]}Z`);
  if (Number.isNaN(local.getTime()) || !local.toISOString().startsWith(`${match[1]}T${match[2]}`)) {
    return null;
  }
  const time = Date.parse(text.toUpperCase());
  return Number.isNaN(time) ? null : time;
}

/** Whether it is the name of a zone in the IANA database. */
export function isTimeZone(zone: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(zone)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
