import { drawJson, holdsInexactNumbers, openAnswerBudget } from '#json/index.ts';
import { isRecord, type JsonRecord } from './values.ts';

/** In the standard since 2025, not yet in the compiler's library: https://github.com/tc39/proposal-json-parse-with-source */
interface JsonWithSource {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
}

const json = JSON as unknown as JsonWithSource;

/**
 * Parses what is only passed on, such as the arguments of a call: ids of databases are often integers beyond 2^53.
 * A number that would be written differently comes out of `JSON.stringify` digit by digit as it went in; in the value it
 * is an `isExactNumber`.
 * @throws SyntaxError for what is nested too deep, too: its request was refused for it, an answer is taken as it is.
 */
export function parseExact(text: string): unknown {
  const bytes = Buffer.from(text);
  if (!drawJson(bytes, openAnswerBudget())) throw new SyntaxError('too complex');
  return holdsInexactNumbers(bytes, -1) ? json.parse(text, keepExact) : JSON.parse(text);
}

/**
 * Parses what is read, but for the members of the given names, wherever they are, which are only passed on.
 * @throws SyntaxError
 */
export function parsePassingOn(text: Buffer, names: ReadonlySet<string>): unknown {
  return passingOn(JSON.parse(text.toString('utf8')), text, names, 0);
}

/**
 * The value with all numbers in the members of the given names as they were written; itself when it has them already.
 * @param text what the value was parsed from.
 * @param below numbers that are not so deep inside are nobody's.
 */
export function passingOn<Value>(
  value: Value,
  text: Buffer,
  names: ReadonlySet<string>,
  below: number,
): Value {
  if (!holdsInexactNumbers(text, below)) return value;
  return graft(value, json.parse(text.toString('utf8'), keepExact), names) as Value;
}

/** A number that is kept as it was written. */
export function isExactNumber(value: unknown): boolean {
  return json.isRawJSON(value);
}

export function isNumber(value: unknown): boolean {
  return typeof value === 'number' || isExactNumber(value);
}

/** The double nearest to a number in either form; NaN for anything else. */
export function doubleOf(value: unknown): number {
  if (isExactNumber(value)) return Number((value as { rawJSON: string }).rawJSON);
  return typeof value === 'number' ? value : Number.NaN;
}

/** An object, which the exact form of a number is to the language, too. */
export function isExactRecord(value: unknown): value is JsonRecord {
  return isRecord(value) && !isExactNumber(value);
}

function keepExact(_key: string, value: unknown, { source = '' }: { source?: string }): unknown {
  return typeof value !== 'number' || String(value) === source ? value : json.rawJSON(source);
}

function graft(value: unknown, exact: unknown, names: ReadonlySet<string>): unknown {
  if (Array.isArray(value) && Array.isArray(exact)) {
    return value.map((element, at) => graft(element, exact[at], names));
  }
  if (!isRecord(value) || !isRecord(exact)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    names.has(name) ? exact[name] : graft(member, exact[name], names),
  ]);
  return Object.fromEntries(members);
}
