/** In the standard since 2025, not yet in the compiler's library: https://github.com/tc39/proposal-json-parse-with-source */
interface JsonWithSource {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
}

const json = JSON as unknown as JsonWithSource;

const long = /\d{16}/;
const integer = /^-?\d+$/;

/** May the text hold an integer that no double can hold? */
export function hasLongNumbers(text: string): boolean {
  return long.test(text);
}

/**
 * Parses what is only passed on, such as the arguments of a call: ids of databases are often integers beyond 2^53, and
 * come out of `JSON.stringify` digit by digit as they went in. In the value they are no numbers.
 * @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  return hasLongNumbers(text) ? json.parse(text, keepExact) : JSON.parse(text);
}

function keepExact(_key: string, value: unknown, { source = '' }: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  return integer.test(source) ? json.rawJSON(source) : value;
}
