import {
  type ReportedUsage,
  type TokenUsage,
  apartParts,
  type ApartTokens,
  inputSum,
} from '#canonical/index.ts';
import { termOf, searchesInUsage, withSurcharges } from './terms.ts';
import { isRecord, recordAt, type JsonRecord, isAbsent, recordsIn } from '../values.ts';
import { withUnread } from './unread-usage.ts';
import { inclusiveMembers } from './usage-members.ts';
import { countOf, readCount, readMembers, reportOf, type UsageReading } from './usage-numbers.ts';

/**
 * Reads usage as chat and responses report it (`prompt_tokens` or `input_tokens`), with the places where compatible
 * servers put their cache counters. A side that is missing is the rest of the total, if there is one. Null if no side is
 * reported.
 * @param serviceTier as the response names it, beside its usage
 * @param webSearches searches that the response shows; its usage may count more
 * @param pictureTokens of the provider's image tool, which the usage does not include
 */
export function readInclusiveUsage(
  rawUsage: unknown,
  serviceTier?: unknown,
  webSearches = 0,
  imageTokens = 0,
): ReportedUsage | null {
  if (!isRecord(rawUsage)) return null;
  const usage = inUsualNames(rawUsage);
  const reading = readMembers(usage, inclusiveMembers);
  const { counts } = reading;
  if (usage['x_details'] !== undefined) addSessionWrites(usage['x_details'], reading);
  const { prompt, output, total = 0, reasoning = 0, cacheRead = 0, cacheWrite = 0 } = counts;
  const hasPrompt = prompt !== undefined;
  const hasOutput = output !== undefined;
  const sums = {
    prompt: prompt ?? (hasOutput ? Math.max(0, total - output) : 0),
    cacheRead,
    cacheWrite,
    cacheWriteLong: counts.cacheWriteLong ?? 0,
    output: output ?? (hasPrompt ? Math.max(0, total - prompt) : 0),
    reasoning,
    total,
  };
  const isTotalled = (hasPrompt || hasOutput) && total > 0;
  const tokens = disjointTokens(sums);
  const apart = apartOf(counts);
  const split = apart === null ? tokens : withApart(withBeside(tokens, apart), apart);
  const report = reportOf(split, reading, {
    input: hasPrompt || isTotalled,
    output: hasOutput || isTotalled,
  });
  const unnamed = hasPrompt && hasOutput ? unnamedTokens(sums) : 0;
  const searches = Math.max(webSearches, searchesInUsage(usage));
  const charged = withSurcharges(
    report === null || unnamed === 0 ? report : { ...report, unnamed },
    [termOf('service_tier', serviceTier)],
    searches,
    imageTokens,
  );
  return withUnread(charged, reading.unknown);
}

/** Model Studio's responses have the writes of a session only in a list that repeats the usage by how it is billed. */
function addSessionWrites(details: unknown, { counts, input }: UsageReading): void {
  const [first = {}] = recordsIn(details);
  const cacheCreation = recordAt(recordAt(first, 'prompt_tokens_details'), 'cache_creation');
  const count = readCount(cacheCreation['ephemeral_5m_input_tokens'], input);
  if (count !== null) counts.cacheWrite = Math.max(counts.cacheWrite ?? 0, count);
}

/** Counts as chat and responses report them. */
interface InclusiveCounts {
  /** Usually includes what was read from or written to a cache. */
  readonly prompt: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** The part of `cacheWrite` with a long lifetime. */
  readonly cacheWriteLong: number;
  /** Usually includes reasoning. */
  readonly output: number;
  readonly reasoning: number;
  /** 0 when absent. */
  readonly total: number;
}

/**
 * Makes the parts disjoint. Compatible servers differ in what their sums include, and the numbers show which way a
 * server counts: a cache larger than the prompt lies outside it; reasoning that is larger than the output, or that the
 * total counts in addition, lies beside it. Each of these ways is in use. A total never adds tokens that no part names.
 */
function disjointTokens(counts: InclusiveCounts): TokenUsage {
  const { prompt, cacheRead, cacheWrite, total } = counts;
  let input = prompt;
  if (cacheRead <= input) {
    input -= cacheRead;
    if (cacheWrite <= input) input -= cacheWrite;
  }
  const beside = Math.max(0, total - prompt - counts.output);
  let { output } = counts;
  const { reasoning } = counts;
  if (reasoning > output || (reasoning > 0 && beside === reasoning)) output += reasoning;
  const cacheWrite1h = Math.min(counts.cacheWriteLong, cacheWrite);
  return {
    input,
    cacheRead,
    cacheWrite: cacheWrite - cacheWrite1h,
    cacheWrite1h,
    output,
    reasoning,
  };
}

/**
 * What the total counts beyond the parts, if it may be reasoning that has no name of its own. A cache outside the prompt
 * may be in the total too.
 */
function unnamedTokens(counts: InclusiveCounts): number {
  const { prompt, cacheRead, cacheWrite, output, reasoning, total } = counts;
  if (reasoning > 0 || output === 0 || cacheRead + cacheWrite > prompt) return 0;
  return Math.max(0, total - prompt - output);
}

/** Null if all tokens are text, as in most responses. */
function apartOf(counts: UsageReading['counts']): ReportedApart | null {
  const { inputAudio = 0, inputImage = 0, outputAudio = 0, outputImage = 0 } = counts;
  const { cacheReadAudio = 0, cacheReadImage = 0 } = counts;
  const most = Math.max(inputAudio, inputImage, cacheReadAudio, cacheReadImage);
  if (Math.max(most, outputAudio, outputImage) === 0) return null;
  return { inputAudio, inputImage, cacheReadAudio, cacheReadImage, outputAudio, outputImage };
}

/** Audio and images that are more than the sum lie beside it: servers differ in what their sums include. */
function withBeside(
  tokens: TokenUsage,
  { inputAudio, inputImage, outputAudio, outputImage }: ReportedApart,
): TokenUsage {
  const inputApart = inputAudio + inputImage;
  const outputApart = outputAudio + outputImage;
  const isGivenBeside = inputApart > inputSum(tokens);
  const isMadeBeside = outputApart > tokens.output;
  if (!isGivenBeside && !isMadeBeside) return tokens;
  return {
    ...tokens,
    input: tokens.input + (isGivenBeside ? inputApart : 0),
    output: tokens.output + (isMadeBeside ? outputApart : 0),
  };
}

/** Another API's words for the counts. Of several members the sum counts: what the words leave out comes behind. */
interface ForeignNames {
  readonly input: readonly string[];
  readonly output: readonly string[];
  readonly cacheRead?: string;
  readonly cacheWrite?: string;
  readonly reasoning?: string;
}

/** The words of chat and responses, which servers of both mix. */
const usual = ['prompt_tokens', 'completion_tokens', 'input_tokens', 'output_tokens'];

/** Servers that translate another API leave its words in the usage. */
const others: readonly ForeignNames[] = [
  // Amazon Bedrock's invocation metrics: the input is without the cache.
  // https://docs.aws.amazon.com/bedrock/latest/userguide/model-invocation-logging.html
  {
    input: ['inputTokenCount', 'cacheReadInputTokenCount', 'cacheWriteInputTokenCount'],
    output: ['outputTokenCount'],
    cacheRead: 'cacheReadInputTokenCount',
    cacheWrite: 'cacheWriteInputTokenCount',
  },
  // The same in its Converse API. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html
  {
    input: ['inputTokens', 'cacheReadInputTokens', 'cacheWriteInputTokens'],
    output: ['outputTokens'],
    cacheRead: 'cacheReadInputTokens',
    cacheWrite: 'cacheWriteInputTokens',
  },
  // Vercel's AI SDK 4 and LangChain.js. https://ai-sdk.dev/docs/reference/ai-sdk-core/generate-text
  { input: ['promptTokens'], output: ['completionTokens'] },
  // Gemini: https://ai.google.dev/api/generate-content#UsageMetadata
  {
    input: ['promptTokenCount', 'toolUsePromptTokenCount'],
    output: ['candidatesTokenCount', 'thoughtsTokenCount'],
    cacheRead: 'cachedContentTokenCount',
    reasoning: 'thoughtsTokenCount',
  },
  // Ollama's own API. https://docs.ollama.com/api/usage
  { input: ['prompt_eval_count'], output: ['eval_count'] },
  // IBM watsonx.ai. https://cloud.ibm.com/apidocs/watsonx-ai#text-generation
  { input: ['input_token_count'], output: ['generated_token_count'] },
];

/** A usage object in the words of chat: itself, unless it has the counts in another API's words alone. */
function inUsualNames(usage: JsonRecord): JsonRecord {
  if (usual.some((name) => !isAbsent(usage[name]))) return usage;
  const names = others.find(
    ({ input, output }) => !isAbsent(usage[input[0] ?? '']) || !isAbsent(usage[output[0] ?? '']),
  );
  if (names === undefined) return usage;
  const { input, output, cacheRead = '', cacheWrite = '', reasoning = '' } = names;
  const read = new Set([...input, ...output, cacheRead, cacheWrite, reasoning]);
  return {
    ...Object.fromEntries(Object.entries(usage).filter(([name]) => !read.has(name))),
    prompt_tokens: sumAt(usage, input),
    completion_tokens: sumAt(usage, output),
    cache_read_input_tokens: usage[cacheRead],
    cache_creation_input_tokens: usage[cacheWrite],
    reasoning_tokens: usage[reasoning],
  };
}

/** Undefined if the first is absent: the others are parts beside it. A value that is not a count is returned as it is. */
function sumAt(usage: JsonRecord, [first = '', ...rest]: readonly string[]): unknown {
  if (isAbsent(usage[first])) return undefined;
  let sum = 0;
  for (const name of [first, ...rest]) {
    if (isAbsent(usage[name])) continue;
    const count = countOf(usage[name]);
    if (count === null) return usage[name];
    sum += count;
  }
  return sum;
}

/** Counts as upstreams report them, 0 for none: those of the input include what was read from a cache. */
interface ReportedApart {
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
export function withApart(tokens: TokenUsage, reportedApart: ReportedApart): TokenUsage {
  const { inputAudio, inputImage, cacheReadAudio, cacheReadImage } = reportedApart;
  const isText = inputAudio + inputImage + cacheReadAudio + cacheReadImage === 0;
  if (isText && reportedApart.outputAudio + reportedApart.outputImage === 0) return tokens;
  const input = splitInput(tokens, reportedApart);
  const outputImage = Math.min(reportedApart.outputImage, tokens.output);
  const outputAudio = Math.min(reportedApart.outputAudio, tokens.output - outputImage);
  const apart: Required<ApartTokens> = { ...input, outputImage, outputAudio };
  let all = tokens;
  for (const part of apartParts) if (apart[part] > 0) all = { ...all, [part]: apart[part] };
  return all;
}

function splitInput({ input, cacheRead }: TokenUsage, reportedApart: ReportedApart) {
  let cached = cacheRead;
  let fresh = input;
  const fromCache = (most: number): number => {
    const takenTokens = Math.min(most, cached);
    cached -= takenTokens;
    return takenTokens;
  };
  const fromInput = (most: number): number => {
    const takenTokens = Math.min(most, fresh);
    fresh -= takenTokens;
    return takenTokens;
  };
  let cacheReadAudio = fromCache(reportedApart.cacheReadAudio);
  let cacheReadImage = fromCache(reportedApart.cacheReadImage);
  const audio = Math.max(0, reportedApart.inputAudio - cacheReadAudio);
  const image = Math.max(0, reportedApart.inputImage - cacheReadImage);
  const inputAudio = fromInput(audio);
  const inputImage = fromInput(image);
  cacheReadAudio += fromCache(audio - inputAudio);
  cacheReadImage += fromCache(image - inputImage);
  return { inputImage, inputAudio, cacheReadImage, cacheReadAudio };
}
