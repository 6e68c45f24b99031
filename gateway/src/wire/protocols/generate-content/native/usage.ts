import type { ReportedUsage } from '#canonical/index.ts';
import { termIn, withSurcharges } from '../../reported-surcharges.ts';
import { UsageCounts } from '../../usage-numbers.ts';
import { isAbsent, isRecord } from '../../values.ts';

/**
 * `promptTokenCount` includes cached tokens and excludes tool results. `candidatesTokenCount` excludes reasoning. If one
 * of the two is missing, it is the rest of the total. A cache larger than the prompt lies outside it.
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

/** The usage of a whole response. Marks the side that is missing and that the total does not give. */
export function readWholeUsage(usage: unknown, webSearches = 0): ReportedUsage | null {
  const reported = readUsage(usage, webSearches);
  if (reported === null || reported.implausible || !isRecord(usage)) return reported;
  const { input, cacheRead, output } = reported.tokens;
  const isTold = (name: string): boolean => !isAbsent(usage[name]);
  const hasInput = isTold('promptTokenCount') || input + cacheRead > 0;
  // A total without room for output may be from the beginning of a stream.
  const hasOutput = isTold('candidatesTokenCount') || (isTold('totalTokenCount') && output > 0);
  if (hasInput && hasOutput) return reported;
  return { ...reported, missingSide: hasInput ? 'output' : 'input' };
}

/**
 * Merges two cumulative reports of a stream: the later one, with the earlier one's output count if the later has none.
 * A total that includes output is believed, whatever it omits, because the client saw it.
 */
export function withCounted(later: unknown, earlier: unknown): unknown {
  const isForgotten =
    isRecord(later) &&
    isAbsent(later['candidatesTokenCount']) &&
    readUsage(later)?.tokens.output === 0;
  if (!isForgotten || !isRecord(earlier)) return later;
  return { ...later, candidatesTokenCount: earlier['candidatesTokenCount'] };
}
