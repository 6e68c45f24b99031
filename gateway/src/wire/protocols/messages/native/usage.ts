import type { ReportedUsage } from '#canonical/index.ts';
import { searchesInUsage, termIn, withSurcharges } from '../../reported-surcharges.ts';
import { reportOf, UsageCounts } from '../../usage-numbers.ts';
import { isAbsent, isRecord, type JsonRecord, recordAt } from '../../values.ts';

/**
 * `input_tokens` excludes cache reads and writes. `output_tokens` includes thinking.
 * @param isCounted whether the output count is final; the one at the start of a stream is not
 */
export function readUsage(usage: unknown, isCounted = true): ReportedUsage | null {
  if (!isRecord(usage)) return null;
  const input = new UsageCounts();
  const output = new UsageCounts();
  const written = recordAt(usage, 'cache_creation');
  const cacheWrite1h = input.read(written['ephemeral_1h_input_tokens']);
  const cacheWrite5m = input.read(written['ephemeral_5m_input_tokens']);
  const allWritten = Math.max(
    input.read(usage['cache_creation_input_tokens']),
    cacheWrite1h + cacheWrite5m,
  );
  const fresh = input.read(usage['input_tokens']);
  const cacheRead = input.read(usage['cache_read_input_tokens']);
  const produced = output.read(usage['output_tokens']);
  const isTold = output.some && isCounted;
  const details = recordAt(usage, 'output_tokens_details');
  const reasoning = output.readAny(details['thinking_tokens'], details['reasoning_tokens']);
  const reported = reportOf(
    {
      input: fresh,
      cacheRead,
      cacheWrite: allWritten - cacheWrite1h,
      cacheWrite1h,
      output: produced,
      reasoning: Math.min(reasoning, produced),
    },
    // Cache reads and writes are counted beside the rest: without one of these, the sum is too small.
    input.side(input.some && !input.isOdd),
    output.side(isTold),
  );
  const terms = termFields.map((field) => termIn(usage, field));
  return withSurcharges(reported, terms, searchesInUsage(usage));
}

const termFields = ['service_tier', 'speed', 'inference_geo'];

/** Merges partial reports of a stream. Counts are cumulative: later ones replace earlier ones, null does not. */
export function mergeUsage(earlier: JsonRecord, later: unknown): JsonRecord {
  if (!isRecord(later)) return earlier;
  const merged = { ...earlier };
  for (const [name, value] of Object.entries(later)) if (!isAbsent(value)) merged[name] = value;
  return merged;
}
