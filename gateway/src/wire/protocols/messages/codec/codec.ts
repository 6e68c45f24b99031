import { type Codec, type CodecTraits, settingsOf } from '../../codec.ts';
import { decodeRequest } from './request/decode-request.ts';
import { decodeResponse } from './response/decode-response.ts';
import { MessagesStreamDecoder, passedOn } from './stream/decode-stream.ts';
import { encodeCount, encodeRequest } from './request/encode-request.ts';
import { encodeResponse } from './response/encode-response.ts';
import { MessagesStreamEncoder } from './stream/encode-stream.ts';
import { factsOf, longToolNames, shortToolNames } from '../native/repairs/model-facts.ts';
import { createFieldName } from '../../shared/text/losses.ts';

/** The names of possible losses for clients of this protocol. */
const fieldName = createFieldName(
  {
    max_output_tokens: 'max_tokens',
    temperature: 'temperature',
    top_p: 'top_p',
    top_k: 'top_k',
    presence_penalty: 'presence_penalty',
    frequency_penalty: 'frequency_penalty',
    seed: 'seed',
    stop: 'stop_sequences',
    n: 'n',
    logprobs: 'logprobs',
    verbosity: 'verbosity',
    user: 'metadata.user_id',
    cache: 'cache_control',
    cache_key: 'cache_key',
    response_format: 'output_config.format',
    'response_format.schema': 'output_config.format',
    reasoning: 'thinking',
    'reasoning.effort': 'output_config.effort',
    'reasoning.budget': 'thinking.budget_tokens',
    'reasoning.state': 'messages',
    tool_choice: 'tool_choice',
    parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
    'tools.custom': 'tools',
    'tools.namespace': 'tools',
    'tool.strict': 'tools',
    'tool.schema': 'tools',
    messages: 'messages',
    system: 'messages',
    'message.name': 'messages',
    citations: 'messages',
    tool_call: 'messages',
    'tool_call.arguments': 'messages',
    tool_result: 'messages',
    'tool_result.content': 'messages',
    'tool_result.is_error': 'messages',
    'tool_result.media': 'messages',
    image: 'messages',
    'image.url': 'messages',
    'image.detail': 'messages',
    file: 'messages',
    'file.url': 'messages',
    'file.filename': 'messages',
    audio: 'messages',
    'audio.url': 'messages',
    video: 'messages',
    'video.url': 'messages',
    'media.url': 'messages',
    file_id: 'messages',
  },
  (what) => (/^tools?\./.test(what) ? 'tools' : what),
);

const traits: CodecTraits = Object.freeze({
  ...longToolNames,
  toolId: /^[a-zA-Z0-9_-]+$/,
  toolIdLength: 64,
  customTools: false,
  cacheKey: false,
  toolNamespaces: false,
  state: 'reasoning',
  mediaAsBytes: new Set<never>(),
  toolResultMedia: true,
});
const shortNameTraits: CodecTraits = Object.freeze({ ...traits, ...shortToolNames });

/** Messages, to and from the canonical model. */
export const messagesCodec = Object.freeze({
  name: 'messages',
  traits,
  passedOn,
  upstreamTraits: ({ model }) =>
    factsOf(model).toolNames === shortToolNames ? shortNameTraits : traits,
  decodeRequest,
  encodeRequest,
  encodeCount,
  forResponse: settingsOf,
  decodeResponse,
  encodeResponse,
  createStreamDecoder: () => new MessagesStreamDecoder(),
  createStreamEncoder: (context) => new MessagesStreamEncoder(context),
  fieldName,
} satisfies Codec);
