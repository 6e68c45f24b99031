import type { TokenUsage } from '#canonical/index.ts';

/** `usageMetadata`: the prompt with its cached part, candidates without their thoughts. */
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
