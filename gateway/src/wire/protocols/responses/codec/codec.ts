import type { Codec, CodecTraits } from '../../codec.ts';
import { decodeRequest } from './request/decode-request.ts';
import { decodeResponse } from './response/decode-response.ts';
import { createStreamDecoder, withoutLogprobs } from './stream/decode-stream.ts';
import { encodeCount, encodeRequest } from './request/encode-request.ts';
import { encodeResponse } from './response/encode-response.ts';
import { ResponsesStreamEncoder } from './stream/encode-stream.ts';
import { ownValue } from './request/request-extensions.ts';
import { createFieldName } from '../../shared/text/losses.ts';

/** The names of possible losses for clients of this protocol. */
const fieldName = createFieldName({
  max_output_tokens: 'max_output_tokens',
  temperature: 'temperature',
  top_p: 'top_p',
  top_k: 'top_k',
  presence_penalty: 'presence_penalty',
  frequency_penalty: 'frequency_penalty',
  seed: 'seed',
  stop: 'stop',
  n: 'n',
  logprobs: 'include',
  verbosity: 'text.verbosity',
  user: 'safety_identifier',
  cache: 'prompt_cache_breakpoint',
  cache_key: 'prompt_cache_key',
  response_format: 'text.format',
  'response_format.schema': 'text.format.schema',
  reasoning: 'reasoning',
  'reasoning.effort': 'reasoning.effort',
  'reasoning.budget': 'reasoning',
  'reasoning.state': 'input',
  tool_choice: 'tool_choice',
  parallel_tool_calls: 'parallel_tool_calls',
  'tools.custom': 'tools',
  'tools.namespace': 'tools',
  'tool.strict': 'tools.strict',
  'tool.schema': 'tools.parameters',
  messages: 'input',
  system: 'instructions',
  'message.name': 'input',
  citations: 'input',
  tool_call: 'input',
  'tool_call.arguments': 'input',
  tool_result: 'input',
  'tool_result.content': 'input',
  'tool_result.is_error': 'input',
  'tool_result.media': 'input',
  image: 'input',
  'image.url': 'input',
  'image.detail': 'input',
  file: 'input',
  'file.url': 'input',
  'file.filename': 'input',
  audio: 'input',
  'audio.url': 'input',
  video: 'input',
  'video.url': 'input',
  'media.url': 'input',
  file_id: 'input',
});

const traits: CodecTraits = Object.freeze({
  toolName: /^[a-zA-Z0-9_-]+$/,
  toolNameLength: 64,
  toolId: /^\S+$/,
  toolIdLength: 64,
  customTools: true,
  cacheKey: true,
  toolNamespaces: true,
  state: 'reasoning',
  mediaAsBytes: new Set<never>(),
  toolResultMedia: true,
});

/** Responses, to and from the canonical model. */
export const responsesCodec = Object.freeze({
  name: 'responses',
  traits,
  passedOn: new Set(['parameters', 'schema', 'arguments', 'output']),
  upstreamTraits: ({ traits: { customTools, cacheKeys, toolNamespaces } }) => ({
    ...traits,
    customTools,
    cacheKey: cacheKeys,
    toolNamespaces,
  }),
  decodeRequest,
  encodeRequest,
  encodeCount,
  decodeResponse,
  encodeResponse,
  createStreamDecoder,
  // Other clients make a turn without words of every reasoning item.
  wantsState: (extensions) => {
    const included = ownValue(extensions, 'include');
    return Array.isArray(included) && included.includes('reasoning.encrypted_content');
  },
  repeatsResponses: true,
  leanEvent: withoutLogprobs,
  createStreamEncoder: (context) => new ResponsesStreamEncoder(context),
  fieldName,
} satisfies Codec);
