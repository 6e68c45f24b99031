/*
 * The members of usage objects: those that are read, with what they count, and those that only repeat what others say.
 * Whatever else counts something is reported as unread (`unread-usage.ts`). A path stands for its whole value. Names that
 * say "total tokens", a price or a time need no entry.
 */

/** What a member counts. Of several members that count one thing, the largest is believed: unused places often hold 0. */
export type CountName =
  | 'total'
  /** With what was read from and written to a cache. */
  | 'prompt'
  | 'toolPrompt'
  | 'inputAudio'
  | 'inputImage'
  | 'cacheRead'
  | 'cacheReadAudio'
  | 'cacheReadImage'
  | 'cacheWrite'
  /** The part with a short, with a long lifetime. */
  | 'cacheWriteShort'
  | 'cacheWriteLong'
  | 'output'
  | 'reasoning'
  | 'outputAudio'
  | 'outputImage';

/** Read elsewhere, or nothing to add: `knownMembers` says which whole values. */
type Leaf = CountName | 'whole';

/** The members of an object that are known: all of a value, or some of its members. */
export type KnownMembers = ReadonlyMap<string, KnownMembers | Leaf>;

/** By path: names of members, with a dot before those of an inner object or of the objects in a list. */
type Paths = Readonly<Record<string, Leaf>>;

function knownMembers(paths: Paths): KnownMembers {
  const knownByName = new Map<string, Map<string, unknown> | Leaf>();
  for (const [path, leaf] of Object.entries(paths)) {
    const names = path.split('.');
    const last = names.pop()!;
    let holder: Map<string, unknown> = knownByName;
    for (const name of names) {
      const inner = holder.get(name) ?? new Map<string, unknown>();
      holder.set(name, inner);
      holder = inner as Map<string, unknown>;
    }
    holder.set(last, leaf);
  }
  return knownByName as KnownMembers;
}

/** The paths inside of each of these members. */
function below(holders: readonly string[], paths: Paths): Paths {
  return Object.fromEntries(
    holders.flatMap((holder) =>
      Object.entries(paths).map(([path, leaf]) => [`${holder}.${path}`, leaf]),
    ),
  );
}

/** Of prompts in chat and responses. */
const inputDetails: Paths = {
  cached_tokens: 'cacheRead',
  cache_write_tokens: 'cacheWrite',
  cache_creation_tokens: 'cacheWrite',
  cache_creation_input_tokens: 'cacheWrite',
  'cache_write_tokens_details.ttl_12h_tokens': 'cacheWriteLong',
  'cache_write_tokens_details.ttl_30m_tokens': 'whole',
  // As servers that translate messages name the writes for an hour.
  'cache_creation_token_details.ephemeral_1h_input_tokens': 'cacheWriteLong',
  'cache_creation_token_details.ephemeral_5m_input_tokens': 'whole',
  'cache_creation.ephemeral_1h_input_tokens': 'cacheWriteLong',
  'cache_creation.ephemeral_5m_input_tokens': 'whole',
  'cached_tokens_details.audio_tokens': 'cacheReadAudio',
  'cached_tokens_details.image_tokens': 'cacheReadImage',
  'cached_tokens_details.text_tokens': 'whole',
  cached_audio_tokens: 'cacheReadAudio',
  cached_image_tokens: 'cacheReadImage',
  audio_tokens: 'inputAudio',
  image_tokens: 'inputImage',
  // The rest, and what costs as much as text does (https://ai.google.dev/gemini-api/docs/pricing).
  text_tokens: 'whole',
  video_tokens: 'whole',
};

const outputDetails: Paths = {
  reasoning_tokens: 'reasoning',
  audio_tokens: 'outputAudio',
  image_tokens: 'outputImage',
  // The rest, and parts that are charged as output (https://platform.openai.com/docs/guides/predicted-outputs).
  text_tokens: 'whole',
  accepted_prediction_tokens: 'whole',
  rejected_prediction_tokens: 'whole',
};

/** Of chat, responses and images, whose names servers mix. */
export const inclusiveMembers = knownMembers({
  total_tokens: 'total',
  prompt_tokens: 'prompt',
  input_tokens: 'prompt',
  completion_tokens: 'output',
  output_tokens: 'output',
  ...below(['prompt_tokens_details', 'input_tokens_details'], inputDetails),
  ...below(['completion_tokens_details', 'output_tokens_details'], outputDetails),
  prompt_cache_hit_tokens: 'cacheRead',
  cache_read_input_tokens: 'cacheRead',
  cached_tokens: 'cacheRead',
  num_cached_tokens: 'cacheRead',
  cache_creation_input_tokens: 'cacheWrite',
  'cache_creation.ephemeral_1h_input_tokens': 'cacheWriteLong',
  'cache_creation.ephemeral_5m_input_tokens': 'whole',
  'cache_creation_token_details.ephemeral_1h_input_tokens': 'cacheWriteLong',
  reasoning_tokens: 'reasoning',
  // Searches: `searchesInUsage`.
  'server_tool_use.web_search_requests': 'whole',
  'server_tool_use_details.web_search_requests': 'whole',
  'server_side_tool_usage_details.web_search_calls': 'whole',
  'prompt_tokens_details.web_search_requests': 'whole',
  num_search_queries: 'whole',
  'plugins.search.count': 'whole',
  'tool_usage.web_search': 'whole',
  input_images: 'whole',
  // Images are counted one by one.
  generated_images: 'whole',
  // The rest of the prompt (https://api-docs.deepseek.com/guides/kv_cache).
  prompt_cache_miss_tokens: 'whole',
  // The size of the last context, and the sum of the tools (https://docs.x.ai/docs/guides/tools/overview).
  context_details: 'whole',
  num_server_side_tools_used: 'whole',
  // The sum again, by how it is billed (https://www.alibabacloud.com/help/en/model-studio/context-cache).
  x_details: 'whole',
  // Calls, of which searches are counted above (https://openrouter.ai/docs/use-cases/usage-accounting).
  'server_tool_use_details.tool_calls_requested': 'whole',
  'server_tool_use_details.tool_calls_executed': 'whole',
  // Free (https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-fetch-tool#usage-and-pricing).
  'server_tool_use.web_fetch_requests': 'whole',
  // Guesses of speculative decoding: what was right is output (https://github.com/gpustack/gpustack).
  draft_tokens: 'whole',
});

const messageCounts: Paths = {
  // Without what was read from and written to a cache.
  input_tokens: 'prompt',
  cache_read_input_tokens: 'cacheRead',
  cache_creation_input_tokens: 'cacheWrite',
  'cache_creation.ephemeral_5m_input_tokens': 'cacheWriteShort',
  'cache_creation.ephemeral_1h_input_tokens': 'cacheWriteLong',
  output_tokens: 'output',
  'output_tokens_details.thinking_tokens': 'reasoning',
  'output_tokens_details.reasoning_tokens': 'reasoning',
};

/** Of one sampling among those that a message lists. */
export const iterationMembers = knownMembers(messageCounts);

export const messageMembers = knownMembers({
  ...messageCounts,
  // Each is read by itself.
  ...below(
    ['iterations'],
    Object.fromEntries(Object.keys(messageCounts).map((path) => [path, 'whole'])),
  ),
  'server_tool_use.web_search_requests': 'whole',
  // Free, as above.
  'server_tool_use.web_fetch_requests': 'whole',
});

/** Modalities whose tokens are read, or cost what text costs. */
const modalities: Paths = { TEXT: 'whole', AUDIO: 'whole', IMAGE: 'whole' };
const inputModalities: Paths = {
  ...modalities,
  VIDEO: 'whole',
  DOCUMENT: 'whole',
  MODALITY_UNSPECIFIED: 'whole',
};

export const metadataMembers = knownMembers({
  // Without the results of tools.
  promptTokenCount: 'prompt',
  cachedContentTokenCount: 'cacheRead',
  candidatesTokenCount: 'output',
  toolUsePromptTokenCount: 'toolPrompt',
  thoughtsTokenCount: 'reasoning',
  totalTokenCount: 'total',
  ...below(
    ['promptTokensDetails', 'cacheTokensDetails', 'toolUsePromptTokensDetails'],
    inputModalities,
  ),
  ...below(['candidatesTokensDetails'], modalities),
  // Vertex AI's characters of a prompt, which older models were billed by.
  billablePromptUsage: 'whole',
  // A number in recorded answers of Vertex AI.
  trafficType: 'whole',
});

export const embeddingMembers = knownMembers({
  prompt_tokens: 'whole',
  input_tokens: 'whole',
  total_tokens: 'whole',
  'prompt_tokens_details.text_tokens': 'whole',
  'input_tokens_details.text_tokens': 'whole',
});
