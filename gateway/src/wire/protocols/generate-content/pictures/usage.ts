import type { ImageTokens, ReportedImageUsage } from '#canonical/index.ts';
import { UsageCounts } from '../../usage-numbers.ts';
import { isRecord, type JsonRecord } from '../../values.ts';
import { readUsage } from '../native/usage.ts';

/**
 * The usage of a response with pictures. The details by modality name the pictures' part of the prompt and of the
 * candidates; reasoning is output without pictures. Null if no usage is reported.
 */
export function readPictureUsage(usage: unknown, webSearches = 0): ReportedImageUsage | null {
  const reported = readUsage(usage, webSearches);
  if (reported === null || !isRecord(usage)) return null;
  const counts = new UsageCounts();
  const { tokens } = reported;
  const inputImage = Math.min(imagesIn(usage['promptTokensDetails'], counts), tokens.input);
  const outputImage = Math.min(
    imagesIn(usage['candidatesTokensDetails'], counts),
    tokens.output - tokens.reasoning,
  );
  return {
    ...reported,
    implausible: reported.implausible || counts.implausible,
    ...((reported.isDoubtful === true || counts.isOdd) && { isDoubtful: true }),
    tokens: {
      ...tokens,
      input: tokens.input - inputImage,
      inputImage,
      output: tokens.output - outputImage,
      outputImage,
    },
  };
}

function imagesIn(details: unknown, counts: UsageCounts): number {
  if (!Array.isArray(details)) return 0;
  return details
    .filter(isRecord)
    .filter(({ modality }) => String(modality).toUpperCase() === 'IMAGE')
    .reduce((sum, { tokenCount }) => sum + counts.read(tokenCount), 0);
}

/** Writes `usageMetadata` with its details by modality. */
export function writePictureUsage(tokens: ImageTokens): JsonRecord {
  const { cacheRead, cacheWrite, cacheWrite1h, inputImage, outputImage, reasoning } = tokens;
  const text = tokens.input + cacheRead + cacheWrite + cacheWrite1h;
  const prompt = text + inputImage;
  const candidates = tokens.output + outputImage - reasoning;
  return {
    promptTokenCount: prompt,
    ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
    candidatesTokenCount: candidates,
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    totalTokenCount: prompt + candidates + reasoning,
    promptTokensDetails: modalities(text, inputImage),
    candidatesTokensDetails: modalities(candidates - outputImage, outputImage),
  };
}

function modalities(text: number, images: number): JsonRecord[] {
  return [
    ...(text > 0 ? [{ modality: 'TEXT', tokenCount: text }] : []),
    ...(images > 0 ? [{ modality: 'IMAGE', tokenCount: images }] : []),
  ];
}
