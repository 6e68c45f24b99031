import { isAbsent, type JsonRecord } from './values.ts';
import { countOf } from './usage-numbers.ts';

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
export function inUsualNames(usage: JsonRecord): JsonRecord {
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
