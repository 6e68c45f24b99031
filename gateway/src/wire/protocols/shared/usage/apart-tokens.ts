import { apartParts, type ApartTokens, type TokenUsage } from '#canonical/index.ts';

/** Counts as upstreams report them, 0 for none: those of the input include what was read from a cache. */
export interface ReportedApart {
  readonly inputAudio: number;
  readonly inputImage: number;
  readonly cacheReadAudio: number;
  readonly cacheReadImage: number;
  readonly outputAudio: number;
  readonly outputImage: number;
}

/**
 * The usage with the tokens that are not text. No count becomes larger than the one that includes it. What an upstream
 * does not say to be cached was read anew, as far as that many tokens were.
 */
export function withApart(tokens: TokenUsage, reported: ReportedApart): TokenUsage {
  const input = splitInput(tokens, reported);
  const outputImage = Math.min(reported.outputImage, tokens.output);
  const outputAudio = Math.min(reported.outputAudio, tokens.output - outputImage);
  const apart: Required<ApartTokens> = { ...input, outputImage, outputAudio };
  let all = tokens;
  for (const part of apartParts) if (apart[part] > 0) all = { ...all, [part]: apart[part] };
  return all;
}

function splitInput({ input, cacheRead }: TokenUsage, reported: ReportedApart) {
  let cached = cacheRead;
  let fresh = input;
  const fromCache = (most: number): number => {
    const taken = Math.min(most, cached);
    cached -= taken;
    return taken;
  };
  const fromInput = (most: number): number => {
    const taken = Math.min(most, fresh);
    fresh -= taken;
    return taken;
  };
  let cacheReadAudio = fromCache(reported.cacheReadAudio);
  let cacheReadImage = fromCache(reported.cacheReadImage);
  const audio = Math.max(0, reported.inputAudio - cacheReadAudio);
  const image = Math.max(0, reported.inputImage - cacheReadImage);
  const inputAudio = fromInput(audio);
  const inputImage = fromInput(image);
  cacheReadAudio += fromCache(audio - inputAudio);
  cacheReadImage += fromCache(image - inputImage);
  return { inputImage, inputAudio, cacheReadImage, cacheReadAudio };
}
