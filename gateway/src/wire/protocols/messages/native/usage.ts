import type { ReportedUsage } from '#canonical/index.ts';
import { searchesInUsage, termIn, withSurcharges } from '../../reported-surcharges.ts';
import { UsageCounts } from '../../usage-numbers.ts';
import { isAbsent, isRecord, type JsonRecord, recordAt } from '../../values.ts';

/** `input_tokens` excludes what was read from or written to the cache; `output_tokens` includes thinking. */
export function readUsage(usage: unknown): ReportedUsage | null {
  if (!isRecord(usage)) return null;
  const counts = new UsageCounts();
  const written = recordAt(usage, 'cache_creation');
  const cacheWrite1h = counts.read(written['ephemeral_1h_input_tokens']);
  const cacheWrite5m = counts.read(written['ephemeral_5m_input_tokens']);
  const allWritten = Math.max(
    counts.read(usage['cache_creation_input_tokens']),
    cacheWrite1h + cacheWrite5m,
  );
  const output = counts.read(usage['output_tokens']);
  const details = recordAt(usage, 'output_tokens_details');
  const reasoning = counts.readAny(details['thinking_tokens'], details['reasoning_tokens']);
  const reported = counts.report({
    input: counts.read(usage['input_tokens']),
    cacheRead: counts.read(usage['cache_read_input_tokens']),
    cacheWrite: allWritten - cacheWrite1h,
    cacheWrite1h,
    output,
    reasoning: Math.min(reasoning, output),
  });
  const terms = termFields.map((field) => termIn(usage, field));
  return withSurcharges(reported, terms, searchesInUsage(usage));
}

const termFields = ['service_tier', 'speed', 'inference_geo'];

/**
 * The usage of a whole message, with the half that it lacks.
 * @param isCounted whether the output is: what a stream announces at its start is a mere beginning
 */
export function readWholeUsage(
  usage: unknown,
  isCounted = isRecord(usage) && !isAbsent(usage['output_tokens']),
): ReportedUsage | null {
  const reported = readUsage(usage);
  if (reported === null || reported.implausible || !isRecord(usage)) return reported;
  const hasInput = inputCounts.some((name) => !isAbsent(usage[name]));
  if (hasInput && isCounted) return reported;
  return hasInput || isCounted ? { ...reported, missingSide: hasInput ? 'output' : 'input' } : null;
}

/** Any of them tells of the input: what is read from a cache or written to it stands beside the rest. */
const inputCounts = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation',
];

/** A stream reports in pieces; counts are cumulative, so a later one replaces an earlier one and null does not. */
export function mergeUsage(earlier: JsonRecord, later: unknown): JsonRecord {
  if (!isRecord(later)) return earlier;
  const merged = { ...earlier };
  for (const [name, value] of Object.entries(later)) if (!isAbsent(value)) merged[name] = value;
  return merged;
}
