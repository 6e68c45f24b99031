import type { ReportedUsage } from '#canonical/index.ts';
import { termIn, withSurcharges } from '../../reported-surcharges.ts';
import { UsageCounts } from '../../usage-numbers.ts';
import { isAbsent, isRecord } from '../../values.ts';

/**
 * `promptTokenCount` includes cached tokens and excludes tool results; `candidatesTokenCount` excludes thoughts. One of
 * the two that is not there is what the total has beyond the rest. A cache larger than the prompt is read as lying
 * outside it.
 */
export function readUsage(usage: unknown, webSearches = 0): ReportedUsage | null {
  if (!isRecord(usage)) return null;
  const counts = new UsageCounts();
  const cacheRead = counts.read(usage['cachedContentTokenCount']);
  const tools = counts.read(usage['toolUsePromptTokenCount']);
  const reasoning = counts.read(usage['thoughtsTokenCount']);
  const total = counts.read(usage['totalTokenCount']);
  const told = counts.read(usage['candidatesTokenCount']);
  const beyond = (rest: number): number => Math.max(0, total - rest - tools - reasoning);
  const prompt = isAbsent(usage['promptTokenCount'])
    ? beyond(told)
    : counts.read(usage['promptTokenCount']);
  const output = isAbsent(usage['candidatesTokenCount']) ? beyond(prompt) : told;
  const reported = counts.report({
    input: (cacheRead <= prompt ? prompt - cacheRead : prompt) + tools,
    cacheRead,
    cacheWrite: 0,
    cacheWrite1h: 0,
    output: output + reasoning,
    reasoning,
  });
  const tier = termIn(usage, 'service_tier', 'serviceTier');
  return withSurcharges(reported, [tier], webSearches);
}

/** The usage of a whole answer, with the half that it lacks and its total does not tell. */
export function readWholeUsage(usage: unknown, webSearches = 0): ReportedUsage | null {
  const reported = readUsage(usage, webSearches);
  if (reported === null || reported.implausible || !isRecord(usage)) return reported;
  const { input, cacheRead, output } = reported.tokens;
  const isTold = (name: string): boolean => !isAbsent(usage[name]);
  const hasInput = isTold('promptTokenCount') || input + cacheRead > 0;
  // A total that leaves nothing for the answer may be that of a stream's beginning.
  const hasOutput = isTold('candidatesTokenCount') || (isTold('totalTokenCount') && output > 0);
  if (hasInput && hasOutput) return reported;
  return { ...reported, missingSide: hasInput ? 'output' : 'input' };
}

/**
 * Of two reports of a stream, which are of all there was until then: the later, with the earlier's count of the answer
 * when it has nothing of one. A total that has is believed, whatever it has left out: it is what the client was told.
 */
export function withCounted(later: unknown, earlier: unknown): unknown {
  const isForgotten =
    isRecord(later) &&
    isAbsent(later['candidatesTokenCount']) &&
    readUsage(later)?.tokens.output === 0;
  if (!isForgotten || !isRecord(earlier)) return later;
  return { ...later, candidatesTokenCount: earlier['candidatesTokenCount'] };
}
