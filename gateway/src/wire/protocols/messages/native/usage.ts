import {
  noTokens,
  type Iteration,
  type ReportedUsage,
  type TokenUsage,
  inputSum,
} from '#canonical/index.ts';
import { searchesInUsage, termIn, withSurcharges } from '../../shared/usage/terms.ts';
import { withUnread } from '../../shared/usage/unread-usage.ts';
import { iterationMembers, messageMembers } from '../../shared/usage/usage-members.ts';
import { readMembers, reportOf, type UsageReading } from '../../shared/usage/usage-numbers.ts';
import { isAbsent, isRecord, type JsonRecord, recordsIn } from '../../shared/values.ts';

/**
 * `input_tokens` excludes cache reads and writes. `output_tokens` includes thinking. What `iterations` counts beyond both
 * is added.
 * @param isCounted whether the output count is final; the one at the start of a stream is not
 */
export function readUsage(usage: unknown, isCounted = true): ReportedUsage | null {
  if (!isRecord(usage)) return null;
  const reading = readMembers(usage, messageMembers);
  const { input, unknown } = reading;
  const tokens = tokensOf(reading);
  // A count of reasoning alone does not tell the output.
  const isOutputCounted = isCounted && reading.counts.output !== undefined;
  const iterations = isAbsent(usage['iterations'])
    ? null
    : readIterations(usage['iterations'], tokens, reading);
  const reportedUsage = reportOf(
    iterations === null ? tokens : withReasoning(sumOf(iterations), tokens),
    reading,
    // Cache reads and writes are counted beside the rest: without one of these, the sum is too small.
    { input: input.some && !input.isOdd, output: isOutputCounted },
  );
  const terms = termFields.map((field) => termIn(usage, field));
  const charged = withSurcharges(
    reportedUsage === null || iterations === null
      ? reportedUsage
      : { ...reportedUsage, iterations },
    terms,
    searchesInUsage(usage),
  );
  return withUnread(charged, unknown);
}

const termFields = ['service_tier', 'speed', 'inference_geo'];

function tokensOf({ counts }: UsageReading): TokenUsage {
  const { prompt = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 } = counts;
  const { cacheWriteShort = 0, cacheWriteLong = 0 } = counts;
  return {
    input: prompt,
    cacheRead,
    cacheWrite: Math.max(cacheWrite, cacheWriteLong + cacheWriteShort) - cacheWriteLong,
    cacheWrite1h: cacheWriteLong,
    output,
    reasoning: Math.min(reasoning, output),
  };
}

/** Samplings do not always say how much of their output is reasoning. */
function withReasoning(sum: TokenUsage, { reasoning }: TokenUsage): TokenUsage {
  return reasoning > sum.reasoning ? { ...sum, reasoning } : sum;
}

/** More samplings are in no response. */
const mostIterations = 128;

/**
 * The samplings that the vendor charges for. The counts beside them are the sum of those of type `message` (or of the
 * `fallback_message` that served the turn) alone: a compaction and an advisor are charged in addition.
 * (https://platform.claude.com/docs/en/build-with-claude/compaction#understanding-usage,
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool#usage-and-billing) Null if they are
 * fewer tokens than the counts.
 */
function readIterations(
  list: unknown,
  counts: TokenUsage,
  reading: UsageReading,
): readonly Iteration[] | null {
  const all = [...recordsIn(list)];
  const hasFallback = all.some(({ type }) => type === 'fallback_message');
  const iterations = all.flatMap((entry): Iteration[] => {
    const tokens = tokensOf(readMembers(entry, iterationMembers, reading));
    // Declined before any output: not charged. (…/build-with-claude/refusals-and-fallback)
    if (hasFallback && entry['type'] === 'message' && tokens.output === 0) return [];
    const model = otherModelOf(entry);
    return [model === null ? { tokens } : { tokens, model }];
  });
  if (iterations.length > mostIterations) reading.input.implausible = true;
  const sum = sumOf(iterations);
  const isWhole = inputSum(sum) >= inputSum(counts) && sum.output >= counts.output;
  if (!isWhole || iterations.length === 0) return null;
  return withLifetimes(iterations, counts.cacheWrite1h - sum.cacheWrite1h);
}

/** Some servers name the lifetimes of cache writes only in the counts. */
function withLifetimes(iterations: readonly Iteration[], unnamed1h: number): readonly Iteration[] {
  let unnamedLeft = Math.max(0, unnamed1h);
  if (unnamedLeft === 0) return iterations;
  return iterations
    .toReversed()
    .map((iteration) => {
      const { tokens } = iteration;
      const moved = Math.min(unnamedLeft, tokens.cacheWrite);
      unnamedLeft -= moved;
      const cacheWrite = tokens.cacheWrite - moved;
      const cacheWrite1h = tokens.cacheWrite1h + moved;
      return { ...iteration, tokens: { ...tokens, cacheWrite, cacheWrite1h } };
    })
    .toReversed();
}

function sumOf(iterations: readonly Iteration[]): TokenUsage {
  const sum = { ...noTokens };
  for (const { tokens } of iterations) {
    for (const part of parts) sum[part] += tokens[part];
  }
  return sum;
}

const parts = ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'output', 'reasoning'] as const;

/** Samplings of the requested model. */
const ownTypes: ReadonlySet<unknown> = new Set(['message', 'compaction']);
const unfit = /[^a-z0-9._-]+/g;

function otherModelOf({ type, model }: JsonRecord): string | null {
  if (ownTypes.has(type) || typeof model !== 'string' || model === '') return null;
  return model.slice(0, 64).toLowerCase().replaceAll(unfit, '-');
}

/** Merges partial reports of a stream. Counts are cumulative: later ones replace earlier ones, null does not. */
export function mergeUsage(earlier: JsonRecord, later: unknown): JsonRecord {
  if (!isRecord(later)) return earlier;
  const mergedUsage = { ...earlier };
  for (const [name, value] of Object.entries(later))
    if (!isAbsent(value)) mergedUsage[name] = value;
  return mergedUsage;
}
