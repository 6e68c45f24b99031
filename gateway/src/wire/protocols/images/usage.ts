import type { ReportedUsage } from '#canonical/index.ts';
import { readInclusiveUsage } from '../shared/usage/inclusive-usage.ts';
import { countOf } from '../shared/usage/usage-numbers.ts';
import { isRecord, recordAt, type JsonRecord } from '../shared/values.ts';

/**
 * The tokens of an answer with pictures; null if it reports none. Output without details is that of pictures: an answer
 * has nothing else to count.
 * @param serviceTier as the response names it, beside its usage
 */
export function readUsage(usage: unknown, serviceTier?: unknown): ReportedUsage | null {
  const reported = readInclusiveUsage(usage, serviceTier);
  if (reported === null || !isRecord(usage)) return null;
  // Nothing is estimated of pictures, so a half is no report.
  if (reported.missingSide !== undefined && !reported.implausible) return null;
  if (hasOutputDetails(usage)) return reported;
  const { tokens } = reported;
  return { ...reported, tokens: { ...tokens, outputImage: tokens.output } };
}

function hasOutputDetails(usage: JsonRecord): boolean {
  const { image_tokens: pictured, text_tokens: text } = {
    ...recordAt(usage, 'completion_tokens_details'),
    ...recordAt(usage, 'output_tokens_details'),
  };
  return countOf(pictured) !== null || countOf(text) !== null;
}

/** The references that the upstream counted; null unless that is a whole number. */
export function readInputImages(usage: unknown): number | null {
  const count = isRecord(usage) ? countOf(usage['input_images']) : null;
  return Number.isSafeInteger(count) ? count : null;
}
