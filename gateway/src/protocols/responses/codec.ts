import type { Codec } from '../codec.ts';
import { decodeRequest } from './decode-request.ts';
import { decodeResponse } from './decode-response.ts';
import { createStreamDecoder } from './decode-stream.ts';
import { encodeRequest } from './encode-request.ts';
import { encodeResponse } from './encode-response.ts';
import { ResponsesStreamEncoder } from './encode-stream.ts';

/** What clients of this protocol call things that others have other names for. */
const fieldNames: Readonly<Record<string, string>> = {
  audio: 'input',
  cache: 'prompt_cache_breakpoint',
  cache_key: 'prompt_cache_key',
  citations: 'input',
  end_user: 'safety_identifier',
  file: 'input',
  file_id: 'input',
  format: 'text.format',
  image: 'input',
  'image.detail': 'input',
  logprobs: 'include',
  max_tokens: 'max_output_tokens',
  'media.url': 'input',
  messages: 'input',
  parallel_tools: 'parallel_tool_calls',
  'reasoning.budget': 'reasoning',
  'reasoning.show': 'reasoning.summary',
  'reasoning.state': 'input',
  response_format: 'text.format',
  'response_format.schema': 'text.format.schema',
  system: 'instructions',
  tool_call: 'input',
  tool_result: 'input',
  'tool_result.media': 'input',
  user: 'safety_identifier',
  verbosity: 'text.verbosity',
  video: 'input',
};

/** Responses, to and from the canonical model. */
export const responsesCodec = Object.freeze({
  name: 'responses',
  traits: Object.freeze({
    toolName: /^[a-zA-Z0-9_-]+$/,
    toolNameLength: 64,
    toolId: /^\S+$/,
    toolIdLength: 64,
    customTools: true,
    toolNamespaces: true,
    state: 'reasoning',
    mediaUrls: true,
    toolResultMedia: true,
  }),
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  createStreamDecoder,
  createStreamEncoder: (answer) => new ResponsesStreamEncoder(answer),
  fieldName: (what) => (Object.hasOwn(fieldNames, what) ? (fieldNames[what] ?? what) : what),
} satisfies Codec);
