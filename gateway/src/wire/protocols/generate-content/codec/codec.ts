import { type Codec, type MediaType, settingsOf } from '../../codec.ts';
import { decodeRequest } from './request/decode-request.ts';
import { decodeResponse } from './response/decode-response.ts';
import { createStreamDecoder, passedOn } from './stream/decode-stream.ts';
import { encodeCount, encodeRequest } from './request/encode-request.ts';
import { encodeResponse } from './response/encode-response.ts';
import { createStreamEncoder } from './stream/encode-stream.ts';
import { createFieldName } from '../../shared/text/losses.ts';
import { camelCase } from '../fields.ts';

/** The names of possible losses for clients of this protocol. */
const fieldName = createFieldName(
  {
    max_output_tokens: 'generationConfig.maxOutputTokens',
    temperature: 'generationConfig.temperature',
    top_p: 'generationConfig.topP',
    top_k: 'generationConfig.topK',
    presence_penalty: 'generationConfig.presencePenalty',
    frequency_penalty: 'generationConfig.frequencyPenalty',
    seed: 'generationConfig.seed',
    stop: 'generationConfig.stopSequences',
    n: 'generationConfig.candidateCount',
    logprobs: 'generationConfig.responseLogprobs',
    verbosity: 'generationConfig',
    user: 'labels',
    cache: 'cachedContent',
    cache_key: 'cachedContent',
    response_format: 'generationConfig.responseMimeType',
    'response_format.schema': 'generationConfig.responseSchema',
    reasoning: 'generationConfig.thinkingConfig',
    'reasoning.effort': 'generationConfig.thinkingConfig.thinkingLevel',
    'reasoning.budget': 'generationConfig.thinkingConfig.thinkingBudget',
    'reasoning.state': 'thoughtSignature',
    tool_choice: 'toolConfig.functionCallingConfig',
    parallel_tool_calls: 'toolConfig',
    'tools.custom': 'tools',
    'tools.namespace': 'tools',
    'tool.strict': 'toolConfig.functionCallingConfig.mode',
    'tool.schema': 'tools.functionDeclarations.parameters',
    messages: 'contents',
    system: 'systemInstruction',
    'message.name': 'contents',
    citations: 'contents',
    tool_call: 'functionCall',
    'tool_call.arguments': 'functionCall.args',
    tool_result: 'functionResponse',
    'tool_result.content': 'functionResponse',
    'tool_result.is_error': 'functionResponse',
    'tool_result.media': 'functionResponse.parts',
    image: 'inlineData',
    'image.url': 'fileData.fileUri',
    'image.detail': 'generationConfig.mediaResolution',
    file: 'inlineData',
    'file.url': 'fileData.fileUri',
    'file.filename': 'inlineData.displayName',
    audio: 'inlineData',
    'audio.url': 'fileData.fileUri',
    video: 'inlineData',
    'video.url': 'fileData.fileUri',
    'media.url': 'fileData.fileUri',
    file_id: 'fileData.fileUri',
  },
  (what) => what.split('.').map(camelCase).join('.'),
);

export const generateContentCodec = Object.freeze({
  name: 'generate-content',
  passedOn,
  traits: Object.freeze({
    toolName: /^[A-Za-z_][A-Za-z0-9_.:-]*$/,
    // Newer models accept 128, the others 64.
    toolNameLength: 64,
    toolId: null,
    toolIdLength: Infinity,
    customTools: false,
    cacheKey: false,
    toolNamespaces: false,
    state: 'block',
    mediaAsBytes: new Set<MediaType>(['image', 'file', 'audio', 'video']),
    toolResultMedia: true,
  }),
  decodeRequest,
  encodeRequest,
  encodeCount,
  forResponse: settingsOf,
  decodeResponse,
  encodeResponse,
  createStreamDecoder,
  createStreamEncoder,
  fieldName,
} satisfies Codec);
