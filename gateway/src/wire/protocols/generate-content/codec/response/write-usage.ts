import type { TokenUsage } from '#canonical/index.ts';

/** Writes `usageMetadata`: the prompt includes its cached part, candidates exclude their reasoning. */
export function writeUsage(usage: TokenUsage): Readonly<Record<string, number>> {
  const { input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning } = usage;
  const prompt = input + cacheRead + cacheWrite + cacheWrite1h;
  return {
    promptTokenCount: prompt,
    ...(cacheRead > 0 ? { cachedContentTokenCount: cacheRead } : {}),
    candidatesTokenCount: output - reasoning,
    ...(reasoning > 0 ? { thoughtsTokenCount: reasoning } : {}),
    totalTokenCount: prompt + output,
  };
}
