/** A value of the file that is neither a list nor a mapping, with its original spelling. */
export class Scalar {
  readonly value: string | number | boolean | null;
  /** The text in the file: numbers keep every digit, which a float would not. */
  readonly source: string;
  /** True if it contains text from the environment or another file, which must never be shown. */
  readonly expanded: boolean;
  /** True when a problem was already reported for it. */
  readonly broken: boolean;

  constructor(
    value: string | number | boolean | null,
    source: string,
    state: { expanded?: boolean; broken?: boolean } = {},
  ) {
    this.value = value;
    this.source = source;
    this.expanded = state.expanded ?? false;
    this.broken = state.broken ?? false;
  }
}

/** The content of a file before it is checked. Mappings have no prototype. */
export type RawValue = Scalar | readonly RawValue[] | RawMapping | undefined;
export interface RawMapping {
  readonly [key: string]: RawValue;
}

export function isMapping(value: unknown): value is RawMapping {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Scalar)
  );
}

/** True for a missing value and for an explicit `null`, which mean the same everywhere. */
export function isAbsent(value: unknown): boolean {
  return value === undefined || (value instanceof Scalar && value.value === null && !value.broken);
}

/** The text of a string scalar; null for anything else. */
export function textOf(value: RawValue): string | null {
  return value instanceof Scalar && typeof value.value === 'string' ? value.value : null;
}

/** The `got …` of a problem. Never repeats text from the environment or text that may be a secret. */
export function describe(value: unknown, isSecret = false): string {
  if (isAbsent(value)) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (!(value instanceof Scalar)) return 'a mapping';
  if (typeof value.value === 'boolean') return String(value.value);
  if (typeof value.value === 'number') {
    if (isSecret) return 'a number';
    return value.source.length > 40 ? `${value.source.slice(0, 40)}…` : value.source;
  }
  const text = String(value.value);
  if (text === '') return 'an empty string';
  return isSecret || value.expanded || mayBeSecret(text) ? 'a string' : quote(text);
}

/** Quotes a name for a message: one line, bounded, and hidden if it looks like a credential. */
export function quote(text: string): string {
  if (mayBeSecret(text)) return 'a string';
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** A credential pasted into the wrong field must not end in a terminal or a log. */
function mayBeSecret(text: string): boolean {
  return /(^|[^a-z])(sk|pk|rk|key)-|AIza|:\/\/[^/]*@|[A-Za-z0-9+/_=-]{32,}/.test(text);
}
