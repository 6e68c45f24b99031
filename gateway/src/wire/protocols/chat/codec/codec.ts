import { type Codec, type CodecTraits, type MediaType, settingsOf } from '../../codec.ts';
import { decodeRequest } from './request/decode-request.ts';
import { decodeResponse } from './response/decode-response.ts';
import { ChatStreamDecoder } from './stream/decode-stream.ts';
import { encodeRequest } from './request/encode-request.ts';
import { encodeResponse } from './response/encode-response.ts';
import { ChatStreamEncoder } from './stream/encode-stream.ts';
import { isLegacyMark } from './tool-calls.ts';
import { createFieldName } from '../../shared/text/losses.ts';

/** The names of possible losses for clients of this protocol. */
const fieldName = createFieldName({
  max_output_tokens: 'max_completion_tokens',
  temperature: 'temperature',
  top_p: 'top_p',
  top_k: 'top_k',
  presence_penalty: 'presence_penalty',
  frequency_penalty: 'frequency_penalty',
  seed: 'seed',
  stop: 'stop',
  n: 'n',
  logprobs: 'logprobs',
  verbosity: 'verbosity',
  user: 'safety_identifier',
  cache: 'prompt_cache_breakpoint',
  cache_key: 'prompt_cache_key',
  response_format: 'response_format',
  'response_format.schema': 'response_format.json_schema.schema',
  reasoning: 'reasoning_effort',
  'reasoning.effort': 'reasoning_effort',
  'reasoning.budget': 'reasoning_effort',
  'reasoning.state': 'reasoning_details',
  tool_choice: 'tool_choice',
  parallel_tool_calls: 'parallel_tool_calls',
  'tools.custom': 'tools.custom',
  'tools.namespace': 'tools',
  'tool.strict': 'tools.function.strict',
  'tool.schema': 'tools.function.parameters',
  messages: 'messages',
  system: 'messages',
  'message.name': 'messages.name',
  citations: 'messages.annotations',
  tool_call: 'tool_calls',
  'tool_call.arguments': 'tool_calls.function.arguments',
  tool_result: 'messages',
  'tool_result.content': 'messages.content',
  'tool_result.is_error': 'messages.content',
  'tool_result.media': 'messages.content',
  image: 'image_url',
  'image.url': 'image_url.url',
  'image.detail': 'image_url.detail',
  file: 'file',
  'file.url': 'file.file_data',
  'file.filename': 'file.filename',
  audio: 'input_audio',
  'audio.url': 'input_audio',
  video: 'video_url',
  'video.url': 'video_url.url',
  'media.url': 'messages.content',
  file_id: 'file.file_id',
});

const traits: CodecTraits = Object.freeze({
  toolName: /^[a-zA-Z0-9_-]+$/,
  toolNameLength: 64,
  toolId: /^[\x20-\x7e]+$/,
  toolIdLength: 40,
  customTools: true,
  cacheKey: true,
  toolNamespaces: false,
  // In `reasoning_details`, which some clients return. For the others the gateway remembers it.
  state: 'block',
  // Images can go by address; videos have no place.
  mediaAsBytes: new Set<MediaType>(['file', 'audio']),
  toolResultMedia: false,
});

/** Chat completions, to and from the canonical model. */
export const chatCodec = Object.freeze({
  name: 'chat',
  traits,
  passedOn: new Set(['parameters', 'schema']),
  upstreamTraits: ({ traits: { customTools, cacheKeys } }) => ({
    ...traits,
    customTools,
    cacheKey: cacheKeys,
  }),
  decodeRequest,
  encodeRequest,
  forResponse: (request) => settingsOf(request, request.extensions.filter(isLegacyMark)),
  decodeResponse,
  encodeResponse,
  createStreamDecoder: () => new ChatStreamDecoder(),
  createStreamEncoder: (context) => new ChatStreamEncoder(context),
  fieldName,
} satisfies Codec);
