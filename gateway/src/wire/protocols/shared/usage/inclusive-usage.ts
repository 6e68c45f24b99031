import {
  type ReportedUsage,
  type TokenUsage,
  apartParts,
  type ApartTokens,
} from '#canonical/index.ts';
import { termOf, searchesInUsage, withSurcharges } from './terms.ts';
import { recordsIn } from '../text/input-extent.ts';
import { isRecord, recordAt, type JsonRecord, isAbsent } from '../values.ts';
import { withUnread } from './unread-usage.ts';
import { inclusiveMembers } from './usage-members.ts';
import {
  disjointTokens,
  inputSum,
  reportOf,
  unnamedTokens,
  UsageCounts,
  countOf,
} from './usage-numbers.ts';

/**
 * Reads usage as chat and responses report it (`prompt_tokens` or `input_tokens`), with the places where compatible
 * servers put their cache counters. A side that is missing is the rest of the total, if there is one. Null if no side is
 * reported.
 * @param serviceTier as the response names it, beside its usage
 * @param webSearches searches that the response shows; its usage may count more
 * @param pictureTokens of the provider's image tool, which the usage does not include
 */
export function readInclusiveUsage(
  reported: unknown,
  serviceTier?: unknown,
  webSearches = 0,
  imageTokens = 0,
): ReportedUsage | null {
  if (!isRecord(reported)) return null;
  const usage = inUsualNames(reported);
  const input = new UsageCounts();
  const output = new UsageCounts();
  const all = new UsageCounts();
  const inputDetails = recordAt(usage, 'prompt_tokens_details');
  const moreInputDetails = recordAt(usage, 'input_tokens_details');
  const outputDetails = recordAt(usage, 'completion_tokens_details');
  const moreOutputDetails = recordAt(usage, 'output_tokens_details');
  const cached = recordAt(inputDetails, 'cached_tokens_details');
  const moreCached = recordAt(moreInputDetails, 'cached_tokens_details');
  const total = all.read(usage['total_tokens']);
  const prompt = input.readAny(usage['prompt_tokens'], usage['input_tokens']);
  const hasPrompt = input.some;
  const completion = output.readAny(usage['completion_tokens'], usage['output_tokens']);
  const hasOutput = output.some;
  const counts = {
    prompt: hasPrompt || !hasOutput ? prompt : Math.max(0, total - completion),
    cacheRead: input.readAny(
      inputDetails['cached_tokens'],
      moreInputDetails['cached_tokens'],
      usage['prompt_cache_hit_tokens'],
      usage['cache_read_input_tokens'],
      usage['cached_tokens'],
      usage['num_cached_tokens'],
    ),
    cacheWrite: input.readAny(
      inputDetails['cache_write_tokens'],
      inputDetails['cache_creation_tokens'],
      inputDetails['cache_creation_input_tokens'],
      moreInputDetails['cache_write_tokens'],
      moreInputDetails['cache_creation_tokens'],
      moreInputDetails['cache_creation_input_tokens'],
      usage['cache_creation_input_tokens'],
      recordAt(sessionDetails(usage), 'cache_creation')['ephemeral_5m_input_tokens'],
    ),
    cacheWriteLong: input.readAny(
      recordAt(inputDetails, 'cache_write_tokens_details')['ttl_12h_tokens'],
      recordAt(moreInputDetails, 'cache_write_tokens_details')['ttl_12h_tokens'],
      ...[inputDetails, moreInputDetails, usage].flatMap(longWrites),
    ),
    output: hasOutput || !hasPrompt ? completion : Math.max(0, total - prompt),
    reasoning: output.readAny(
      outputDetails['reasoning_tokens'],
      moreOutputDetails['reasoning_tokens'],
      usage['reasoning_tokens'],
    ),
    total,
  };
  const { implausible } = all;
  const isTotalled = (hasPrompt || hasOutput) && total > 0;
  const apart = {
    inputAudio: input.readAny(inputDetails['audio_tokens'], moreInputDetails['audio_tokens']),
    inputImage: input.readAny(inputDetails['image_tokens'], moreInputDetails['image_tokens']),
    cacheReadAudio: input.readAny(
      cached['audio_tokens'],
      moreCached['audio_tokens'],
      inputDetails['cached_audio_tokens'],
      moreInputDetails['cached_audio_tokens'],
    ),
    cacheReadImage: input.readAny(
      cached['image_tokens'],
      moreCached['image_tokens'],
      inputDetails['cached_image_tokens'],
      moreInputDetails['cached_image_tokens'],
    ),
    outputAudio: output.readAny(outputDetails['audio_tokens'], moreOutputDetails['audio_tokens']),
    outputImage: output.readAny(outputDetails['image_tokens'], moreOutputDetails['image_tokens']),
  };
  const report = reportOf(
    withApart(withBeside(disjointTokens(counts), apart), apart),
    {
      implausible: implausible || input.implausible,
      isOdd: input.isOdd,
      isTold: hasPrompt || isTotalled,
    },
    {
      implausible: implausible || output.implausible,
      isOdd: output.isOdd,
      isTold: hasOutput || isTotalled,
    },
  );
  const unnamed = hasPrompt && hasOutput ? unnamedTokens(counts) : 0;
  const searches = Math.max(webSearches, searchesInUsage(usage));
  const told = withSurcharges(
    report === null || unnamed === 0 ? report : { ...report, unnamed },
    [termOf('service_tier', serviceTier)],
    searches,
    imageTokens,
  );
  return withUnread(told, usage, inclusiveMembers);
}

/** Of cache writes for an hour, as servers that translate messages name them. */
function longWrites(details: JsonRecord): unknown[] {
  return ['cache_creation', 'cache_creation_token_details'].map(
    (name) => recordAt(details, name)['ephemeral_1h_input_tokens'],
  );
}

/** Model Studio's responses have the writes of a session only in a list that repeats the usage by how it is billed. */
function sessionDetails(usage: JsonRecord): JsonRecord {
  const [first] = recordsIn(usage['x_details']);
  return first === undefined ? {} : recordAt(first, 'prompt_tokens_details');
}

/** Audio and images that are more than the sum lie beside it: servers differ in what their sums include. */
function withBeside(
  tokens: TokenUsage,
  { inputAudio, inputImage, outputAudio, outputImage }: ReportedApart,
): TokenUsage {
  const given = inputAudio + inputImage;
  const made = outputAudio + outputImage;
  const isGivenBeside = given > inputSum(tokens);
  const isMadeBeside = made > tokens.output;
  if (!isGivenBeside && !isMadeBeside) return tokens;
  return {
    ...tokens,
    input: tokens.input + (isGivenBeside ? given : 0),
    output: tokens.output + (isMadeBeside ? made : 0),
  };
}

/** Another API's words for the counts. Of several members the sum counts: what the words leave out comes behind. */
interface CountNames {
  readonly input: readonly string[];
  readonly output: readonly string[];
  readonly cacheRead?: string;
  readonly cacheWrite?: string;
  readonly reasoning?: string;
}

/** The words of chat and responses, which servers of both mix. */
const usual = ['prompt_tokens', 'completion_tokens', 'input_tokens', 'output_tokens'];

/** Servers that translate another API leave its words in the usage. */
const others: readonly CountNames[] = [
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
