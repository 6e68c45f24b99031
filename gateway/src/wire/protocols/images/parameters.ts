/** A header's value with its parameters, such as `form-data; name="image"`. */
export interface ParameterizedValue {
  /** In lower case. */
  readonly value: string;
  /** By name in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
}

const token = /^[!#$%&'*+./^_`|~0-9A-Za-z-]+$/;
/** Some clients write brackets of names and signs of boundaries without quotes. */
const plainValue = /^[^\s",\\]+$/;

/** Null if the text could be read in two ways: a broken value, or a parameter that stands twice. */
export function parametersOf(text: string): ParameterizedValue | null {
  let at = endOf(text, 0);
  const value = text.slice(0, at).trim().toLowerCase();
  if (!token.test(value)) return null;
  const parameters = new Map<string, string>();
  while (at < text.length) {
    const equals = text.indexOf('=', at + 1);
    // A last semicolon without a parameter means nothing.
    if (equals < 0) return text.slice(at + 1).trim() === '' ? { value, parameters } : null;
    const name = text
      .slice(at + 1, equals)
      .trimStart()
      .toLowerCase();
    const isQuoted = text[equals + 1] === '"';
    const end = isQuoted ? quoteEnd(text, equals + 1) : endOf(text, equals + 1);
    const written = isQuoted
      ? text.slice(equals + 2, end - 1)
      : text.slice(equals + 1, end).trimEnd();
    const isKnown = token.test(name) && (isQuoted || plainValue.test(written));
    if (!isKnown || end > text.length || parameters.has(name)) return null;
    // An escape means another character to some readers and a backslash to others: only a file may be called so.
    if (written.includes('\\') && name !== 'filename') return null;
    parameters.set(name, written);
    at = endOf(text, end);
    if (text.slice(end, at).trim() !== '') return null;
  }
  return { value, parameters };
}

/** Where a part that is not quoted ends. */
function endOf(text: string, from: number): number {
  const found = text.indexOf(';', from);
  return found < 0 ? text.length : found;
}

/** One past the quote that closes the one at `open`; beyond the text if none does. */
function quoteEnd(text: string, open: number): number {
  let at = open + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}
