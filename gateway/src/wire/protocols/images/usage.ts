import { readInclusiveUsage } from '../inclusive-usage.ts';
import { countOf, UsageCounts } from '../usage-numbers.ts';
import { isRecord, recordAt, type JsonRecord } from '../values.ts';
import type { ReportedImageUsage } from './types.ts';

/**
 * The tokens of an answer with pictures, those of pictures separate; null if it reports none. Output without details is
 * that of pictures: an answer has nothing else to count.
 * @param serviceTier as the response names it, beside its usage
 */
export function readUsage(usage: unknown, serviceTier?: unknown): ReportedImageUsage | null {
  const reported = readInclusiveUsage(usage, serviceTier);
  if (reported === null || !isRecord(usage)) return null;
  // Nothing is estimated of pictures, so a half is no report.
  if (reported.missingSide !== undefined && !reported.implausible) return null;
  const { input, output, ...tokens } = reported.tokens;
  const counts = new UsageCounts();
  const ofInput = counts.read(detailsOf(usage, 'input', 'prompt')['image_tokens']);
  const { image_tokens: named, text_tokens: text } = detailsOf(usage, 'output', 'completion');
  const isNamed = countOf(named) !== null || countOf(text) !== null;
  const pictured = counts.read(named);
  const ofOutput = isNamed ? pictured : output;
  return {
    ...reported,
    tokens: {
      ...tokens,
      input: without(input, ofInput),
      inputImage: ofInput,
      output: without(output, ofOutput),
      outputImage: ofOutput,
    },
    implausible: reported.implausible || counts.implausible,
    ...((reported.isDoubtful === true || counts.isOdd) && { isDoubtful: true }),
  };
}

/** The references that the upstream counted; null unless that is a whole number. */
export function readInputImages(usage: unknown): number | null {
  const count = isRecord(usage) ? countOf(usage['input_images']) : null;
  return Number.isSafeInteger(count) ? count : null;
}

/** A part that is larger than its sum lies beside it. */
function without(sum: number, part: number): number {
  return part <= sum ? sum - part : sum;
}

function detailsOf(usage: JsonRecord, name: string, older: string): JsonRecord {
  return {
    ...recordAt(usage, `${older}_tokens_details`),
    ...recordAt(usage, `${name}_tokens_details`),
  };
}
