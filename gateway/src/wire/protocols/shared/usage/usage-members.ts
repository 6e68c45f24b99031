import { knownMembers } from './unread-usage.ts';

/*
 * The members of usage objects that are read, and those that only repeat what others say: whatever else counts something
 * is reported as unread. A path stands for its whole value. Names that say "total tokens", a price or a time need no
 * entry (`unread-usage.ts`).
 */

/** Of prompts in chat and responses. */
const inputDetails = [
  'cached_tokens',
  'cache_write_tokens',
  'cache_creation_tokens',
  'cache_creation_input_tokens',
  'cache_write_tokens_details.ttl_12h_tokens',
  'cache_write_tokens_details.ttl_30m_tokens',
  'cache_creation_token_details.ephemeral_1h_input_tokens',
  'cache_creation_token_details.ephemeral_5m_input_tokens',
  'cache_creation.ephemeral_1h_input_tokens',
  'cache_creation.ephemeral_5m_input_tokens',
  'cached_tokens_details.audio_tokens',
  'cached_tokens_details.image_tokens',
  'cached_tokens_details.text_tokens',
  'cached_audio_tokens',
  'cached_image_tokens',
  'audio_tokens',
  'image_tokens',
  // The rest, and what costs as much as text does (https://ai.google.dev/gemini-api/docs/pricing).
  'text_tokens',
  'video_tokens',
];

const outputDetails = [
  'reasoning_tokens',
  'audio_tokens',
  'image_tokens',
  // The rest, and parts that are charged as output (https://platform.openai.com/docs/guides/predicted-outputs).
  'text_tokens',
  'accepted_prediction_tokens',
  'rejected_prediction_tokens',
];

/** Of chat, responses and images, whose names servers mix. */
export const inclusiveMembers = knownMembers([
  'prompt_tokens',
  'input_tokens',
  'completion_tokens',
  'output_tokens',
  ...['prompt_tokens_details', 'input_tokens_details'].flatMap((name) =>
    inputDetails.map((detail) => `${name}.${detail}`),
  ),
  ...['completion_tokens_details', 'output_tokens_details'].flatMap((name) =>
    outputDetails.map((detail) => `${name}.${detail}`),
  ),
  'prompt_cache_hit_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation.ephemeral_1h_input_tokens',
  'cache_creation.ephemeral_5m_input_tokens',
  'cached_tokens',
  'num_cached_tokens',
  'reasoning_tokens',
  'server_tool_use.web_search_requests',
  'server_tool_use_details.web_search_requests',
  'server_side_tool_usage_details.web_search_calls',
  'prompt_tokens_details.web_search_requests',
  'num_search_queries',
  'plugins.search.count',
  'tool_usage.web_search',
  'input_images',
  // Images are counted one by one.
  'generated_images',
  // The rest of the prompt (https://api-docs.deepseek.com/guides/kv_cache).
  'prompt_cache_miss_tokens',
  // The size of the last context, and the sum of the tools (https://docs.x.ai/docs/guides/tools/overview).
  'context_details',
  'num_server_side_tools_used',
  // The sum again, by how it is billed (https://www.alibabacloud.com/help/en/model-studio/context-cache).
  'x_details',
  // Calls, of which searches are counted above (https://openrouter.ai/docs/use-cases/usage-accounting).
  'server_tool_use_details.tool_calls_requested',
  'server_tool_use_details.tool_calls_executed',
  // Free (https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-fetch-tool#usage-and-pricing).
  'server_tool_use.web_fetch_requests',
  // Guesses of speculative decoding: what was right is output (https://github.com/gpustack/gpustack).
  'draft_tokens',
]);

const messageCounts = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation.ephemeral_5m_input_tokens',
  'cache_creation.ephemeral_1h_input_tokens',
  'output_tokens',
  'output_tokens_details.thinking_tokens',
  'output_tokens_details.reasoning_tokens',
];

export const messageMembers = knownMembers([
  ...messageCounts,
  ...messageCounts.map((name) => `iterations.${name}`),
  'server_tool_use.web_search_requests',
  // Free, as above.
  'server_tool_use.web_fetch_requests',
]);

/** Modalities whose tokens are read, or cost what text costs. */
const modalities = ['TEXT', 'AUDIO', 'IMAGE'];
const takenModalities = [...modalities, 'VIDEO', 'DOCUMENT', 'MODALITY_UNSPECIFIED'];

export const metadataMembers = knownMembers([
  'promptTokenCount',
  'cachedContentTokenCount',
  'candidatesTokenCount',
  'toolUsePromptTokenCount',
  'thoughtsTokenCount',
  'totalTokenCount',
  ...['promptTokensDetails', 'cacheTokensDetails', 'toolUsePromptTokensDetails'].flatMap((name) =>
    takenModalities.map((modality) => `${name}.${modality}`),
  ),
  ...modalities.map((modality) => `candidatesTokensDetails.${modality}`),
  // Vertex AI's characters of a prompt, which older models were billed by.
  'billablePromptUsage',
  // A number in recorded answers of Vertex AI.
  'trafficType',
]);

export const embeddingMembers = knownMembers([
  'prompt_tokens',
  'input_tokens',
  'total_tokens',
  'prompt_tokens_details.text_tokens',
  'input_tokens_details.text_tokens',
]);
