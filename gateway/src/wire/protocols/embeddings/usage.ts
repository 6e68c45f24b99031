import type { ReportedUsage } from '#canonical/index.ts';
import { isRecord } from '../values.ts';
import { UsageCounts } from '../usage-numbers.ts';

/** Where servers report the tokens of the input, the usual place first; some name the total alone. */
const places = ['prompt_tokens', 'input_tokens', 'total_tokens'] as const;

/**
 * The usage of an embeddings response: input tokens alone. Null when it reports no count. A value that is not a count
 * (a text, a negative or a fractional number, one beyond 2^53) is no report; a count beyond 2^40 is one, and implausible.
 */
export function readUsage(usage: unknown): ReportedUsage | null {
  if (!isRecord(usage)) return null;
  const value = places.map((place) => usage[place]).find(isCount);
  if (value === undefined) return null;
  const counts = new UsageCounts();
  const input = counts.read(value);
  return counts.report({ ...noTokens, input });
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

const noTokens = Object.freeze({
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
});
