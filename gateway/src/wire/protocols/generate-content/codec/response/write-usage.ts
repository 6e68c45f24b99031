import type { TokenUsage } from '#canonical/index.ts';
import { inputSum } from '../../../shared/usage/usage-numbers.ts';
import type { JsonRecord } from '../../../shared/values.ts';

/**
 * Writes `usageMetadata`: the prompt includes its cached part, candidates exclude their reasoning. Details by modality
 * are written if some tokens are not text.
 */
export function writeUsage(usage: TokenUsage): JsonRecord {
  const { cacheRead, output, reasoning } = usage;
  const { inputAudio = 0, inputImage = 0, cacheReadAudio = 0, cacheReadImage = 0 } = usage;
  const { outputAudio = 0, outputImage = 0 } = usage;
  const prompt = inputSum(usage);
  const candidates = output - reasoning;
  const isAllText =
    inputAudio + inputImage + cacheReadAudio + cacheReadImage + outputAudio + outputImage === 0;
  return {
    promptTokenCount: prompt,
    ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
    candidatesTokenCount: candidates,
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    totalTokenCount: prompt + output,
    ...(!isAllText && {
      promptTokensDetails: modalities(
        prompt,
        inputAudio + cacheReadAudio,
        inputImage + cacheReadImage,
      ),
      ...(cacheRead > 0 && {
        cacheTokensDetails: modalities(cacheRead, cacheReadAudio, cacheReadImage),
      }),
      candidatesTokensDetails: modalities(candidates, outputAudio, outputImage),
    }),
  };
}

function modalities(all: number, audio: number, images: number): JsonRecord[] {
  const counts = [
    ['TEXT', all - audio - images],
    ['IMAGE', images],
    ['AUDIO', audio],
  ] as const;
  return counts
    .filter(([, tokenCount]) => tokenCount > 0)
    .map(([modality, tokenCount]) => ({ modality, tokenCount }));
}
