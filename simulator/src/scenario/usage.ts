import type { PromptPart } from './question.ts';
import type { Usage, UsageFault } from './scenario.ts';

export type InputUsage = Pick<Usage, 'freshInput' | 'cacheRead' | 'cacheWrite5m' | 'cacheWrite1h'>;

/**
 * The input side of the usage, from the request alone, so that it never depends on earlier
 * requests. Everything before the last assistant turn must have been sent before, so it counts as
 * read from the cache.
 *
 * `explicit` (messages): only the prompt before the last cache marker is cacheable, and its new
 * part counts as written. `implicit`: reads are automatic, and a marker adds writes.
 */
export function countInput(
  prompt: readonly PromptPart[],
  caching: 'explicit' | 'implicit',
): InputUsage {
  const total = sumTokens(prompt);
  const markAt = prompt.findLastIndex((part) => part.mark !== undefined);
  const seen = prompt.slice(
    0,
    Math.max(
      0,
      prompt.findLastIndex((part) => part.side === 'assistant'),
    ),
  );
  const marked = prompt.slice(0, markAt + 1);
  const repeated = explicitOrAll(seen, marked, caching);
  const cacheRead = sumTokens(repeated);
  const written = Math.max(0, sumTokens(marked) - cacheRead);
  const longLived = prompt[markAt]?.mark === '1h';
  return {
    freshInput: total - cacheRead - written,
    cacheRead,
    cacheWrite5m: longLived ? 0 : written,
    cacheWrite1h: longLived ? written : 0,
  };
}

function explicitOrAll(
  seen: readonly PromptPart[],
  marked: readonly PromptPart[],
  caching: 'explicit' | 'implicit',
): readonly PromptPart[] {
  return caching === 'explicit' && marked.length < seen.length ? marked : seen;
}

export function sumTokens(prompt: readonly PromptPart[]): number {
  return prompt.reduce((sum, part) => sum + part.tokens, 0);
}

/** What each fault puts in place of a count. */
export const wrongCounts = { zero: 0, absurd: 1e15, negative: -7 } as const;

/** Wrong numbers on demand, to test that nobody is billed by them. */
export function distortUsage(usage: Usage, fault: UsageFault | undefined): Usage | null {
  if (fault === undefined) return usage;
  if (fault === 'missing') return null;
  const value = wrongCounts[fault];
  return {
    freshInput: value,
    cacheRead: 0,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    visibleOutput: value,
    reasoning: 0,
  };
}
