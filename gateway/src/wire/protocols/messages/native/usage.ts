import type { ReportedUsage } from '#canonical/index.ts';
import { searchesInUsage, termIn, withSurcharges } from '../../reported-surcharges.ts';
import { UsageCounts } from '../../usage-numbers.ts';
import { isAbsent, isRecord, type JsonRecord, recordAt } from '../../values.ts';

/** `input_tokens` excludes cache reads and writes. `output_tokens` includes thinking. */
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
 * The usage of a whole message. Marks a missing side.
 * @param isCounted whether the output count is final; the one at the start of a stream is not
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

/** Any of these members reports input: cache reads and writes are counted beside the rest. */
const inputCounts = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation',
];

/** Merges partial reports of a stream. Counts are cumulative: later ones replace earlier ones, null does not. */
export function mergeUsage(earlier: JsonRecord, later: unknown): JsonRecord {
  if (!isRecord(later)) return earlier;
  const merged = { ...earlier };
  for (const [name, value] of Object.entries(later)) if (!isAbsent(value)) merged[name] = value;
  return merged;
}
