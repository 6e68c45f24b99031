import type { ReportedUsage } from '#canonical/index.ts';
import { termOf } from './asked-terms.ts';
import { searchesInUsage, withSurcharges } from './reported-surcharges.ts';
import { isAbsent, isRecord, recordAt, type JsonRecord } from './values.ts';
import { disjointTokens, UsageCounts } from './usage-numbers.ts';

/**
 * Reads usage as chat and responses report it (`prompt_tokens` or `input_tokens`), with the places where compatible
 * servers put their cache counters. Null if there is none, or if one side is missing and the total does not give it:
 * such numbers do not report what was used.
 * @param serviceTier as the response names it, beside its usage
 * @param webSearches searches that the response shows; its usage may count more
 */
export function readInclusiveUsage(
  usage: unknown,
  serviceTier?: unknown,
  webSearches = 0,
): ReportedUsage | null {
  if (!isRecord(usage)) return null;
  const counts = new UsageCounts();
  const inputDetails = recordAt(usage, 'prompt_tokens_details');
  const moreInputDetails = recordAt(usage, 'input_tokens_details');
  const outputDetails = recordAt(usage, 'completion_tokens_details');
  const moreOutputDetails = recordAt(usage, 'output_tokens_details');
  const hasPrompt = hasAny(usage, 'prompt_tokens', 'input_tokens');
  const hasOutput = hasAny(usage, 'completion_tokens', 'output_tokens');
  const total = counts.read(usage['total_tokens']);
  const prompt = counts.readAny(usage['prompt_tokens'], usage['input_tokens']);
  const output = counts.readAny(usage['completion_tokens'], usage['output_tokens']);
  const tokens = disjointTokens({
    prompt: hasPrompt ? prompt : Math.max(0, total - output),
    cacheRead: counts.readAny(
      inputDetails['cached_tokens'],
      moreInputDetails['cached_tokens'],
      usage['prompt_cache_hit_tokens'],
      usage['cache_read_input_tokens'],
      usage['cached_tokens'],
      usage['num_cached_tokens'],
    ),
    cacheWrite: counts.readAny(
      inputDetails['cache_write_tokens'],
      inputDetails['cache_creation_tokens'],
      moreInputDetails['cache_write_tokens'],
      moreInputDetails['cache_creation_tokens'],
      usage['cache_creation_input_tokens'],
    ),
    output: hasOutput ? output : Math.max(0, total - prompt),
    reasoning: counts.readAny(
      outputDetails['reasoning_tokens'],
      moreOutputDetails['reasoning_tokens'],
      usage['reasoning_tokens'],
    ),
    total,
  });
  const isWhole = (hasPrompt && hasOutput) || ((hasPrompt || hasOutput) && total > 0);
  if (!isWhole && !counts.implausible) return null;
  const searches = Math.max(webSearches, searchesInUsage(usage));
  return withSurcharges(counts.report(tokens), [termOf('service_tier', serviceTier)], searches);
}

function hasAny(usage: JsonRecord, ...names: readonly string[]): boolean {
  return names.some((name) => !isAbsent(usage[name]));
}
