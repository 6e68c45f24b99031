import { noTokens, type ReportedUsage } from '#canonical/index.ts';
import { withUnread } from '../shared/usage/unread-usage.ts';
import { embeddingMembers } from '../shared/usage/usage-members.ts';
import { isRecord } from '../shared/values.ts';
import { countOf, UsageCounts } from '../shared/usage/usage-numbers.ts';

/** Where servers report the tokens of the input, the usual place first; some name the total alone. */
const places = ['prompt_tokens', 'input_tokens', 'total_tokens'] as const;

/**
 * The usage of an embeddings response: input tokens alone. Null when it reports no count. A value that is not a count
 * (a text that is not a whole number, a negative or a fractional number) is no report; a count beyond 2^40 is one, and
 * implausible.
 */
export function readUsage(usage: unknown): ReportedUsage | null {
  if (!isRecord(usage)) return null;
  const values = places.map((place) => usage[place]);
  const at = values.findIndex((value) => countOf(value) !== null);
  if (at === -1) return withUnread(null, usage, embeddingMembers);
  const counts = new UsageCounts();
  for (const value of values.slice(0, at)) counts.read(value);
  const input = counts.read(values[at]);
  const { implausible, isOdd } = counts;
  const tokens = { ...noTokens, input };
  const report = { tokens, implausible, ...(isOdd && { isDoubtful: true }) };
  return withUnread(report, usage, embeddingMembers);
}
