import { drawJson, holdsInexactNumbers } from '#json/index.ts';
import { isRecord, type JsonRecord } from './values.ts';

/** Standard since 2025, missing from the compiler's library: https://github.com/tc39/proposal-json-parse-with-source */
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
 * Parses JSON that is only passed on, such as the arguments of a call: database ids are often integers beyond 2^53.
 * A number that a double would change keeps its digits through `JSON.stringify`; `isExactNumber` recognises it in
 * the value.
 * @throws SyntaxError also for JSON that is nested too deeply: such a request was refused before, a response is not.
 */
export function parseExact(text: string): unknown {
  const bytes = Buffer.from(text);
  if (!drawJson(bytes)) throw new SyntaxError('too complex');
  return holdsInexactNumbers(bytes, -1) ? json.parse(text, keepExact) : JSON.parse(text);
}

/**
 * Parses JSON that is read, except for the members of the given names at any depth, which are only passed on.
 * @throws SyntaxError
 */
export function parsePassingOn(text: Buffer, names: ReadonlySet<string>): unknown {
  return passingOn(JSON.parse(text.toString('utf8')), text, names, 0);
}

/**
 * The value with all numbers in the members of the given names as they were written; the same value if none differ.
 * @param text the JSON from which the value was parsed
 * @param below the depth below which numbers can matter
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

/** Whether the value is a number that is kept as it was written. */
export function isExactNumber(value: unknown): boolean {
  return json.isRawJSON(value);
}

export function isNumber(value: unknown): boolean {
  return typeof value === 'number' || isExactNumber(value);
}

/** The nearest double to a number in either form; NaN for anything else. */
export function doubleOf(value: unknown): number {
  if (isExactNumber(value)) return Number((value as { rawJSON: string }).rawJSON);
  return typeof value === 'number' ? value : Number.NaN;
}

/** Whether the value is a JSON object. The exact form of a number is an object to the language, too. */
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
