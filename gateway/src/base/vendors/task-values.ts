import type { TaskLook, TaskUsage } from '#canonical/index.ts';

type JsonObject = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : null;
}

/** Servers take addresses of this length; gateways put the whole state of a task into an id. */
const longestId = 8_192;

/** An upstream's id; null for anything that cannot be one. Some servers count their tasks. */
export function idOf(value: unknown): string | null {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value > 0 ? `${value}` : null;
  return typeof value === 'string' && value !== '' && value.length <= longestId ? value : null;
}

/**
 * The words for states, in lower case. Sources: Model Studio and Ark (their references of tasks), new-api
 * (`model/task.go`: `SUBMITTED`, `IN_PROGRESS`, `SUCCESS`, `FAILURE`), OpenAI (`/v1/videos`: `in_progress`,
 * `completed`), MiniMax (`Waiting`, `Success`), Kling (`submitted`, `succeed`).
 */
const states: ReadonlyMap<string, TaskLook['state']> = new Map([
  ['not_start', 'queued'],
  ['pending', 'queued'],
  ['queued', 'queued'],
  ['submitted', 'queued'],
  ['waiting', 'queued'],
  ['in_progress', 'running'],
  ['processing', 'running'],
  ['running', 'running'],
  ['suspended', 'running'],
  ['completed', 'succeeded'],
  ['succeed', 'succeeded'],
  ['succeeded', 'succeeded'],
  ['success', 'succeeded'],
  ['failed', 'failed'],
  ['failure', 'failed'],
  ['canceled', 'cancelled'],
  ['cancelled', 'cancelled'],
  ['expired', 'expired'],
]);

/** The state that a word stands for, in any case. */
export function stateOf(word: string): TaskLook['state'] {
  return states.get(word.toLowerCase()) ?? 'unknown';
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
  const values: Record<string, unknown> = {};
  for (const name of names) {
    const value = from[name];
    const isPlain =
      typeof value === 'boolean' ||
      (typeof value === 'number' && Number.isFinite(value)) ||
      (typeof value === 'string' && value.length <= longestText);
    if (isPlain) values[name] = value;
  }
  return values;
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

/** Standard since 2025, missing from the compiler's library: https://github.com/tc39/proposal-json-parse-with-source */
interface JsonWithSource {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
}

/** Fewer digits are always exact. */
const manyDigits = /\d{16}/;

/**
 * Parses JSON whose ids may be numbers: an integer that a double would change is the text of its digits.
 * @throws SyntaxError
 */
export function parseWithIds(json: Buffer): unknown {
  const text = json.toString('utf8');
  if (!manyDigits.test(text)) return JSON.parse(text);
  return (JSON as unknown as JsonWithSource).parse(text, (_, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^\d+$/.test(source ?? '')
      ? source
      : value,
  );
}
