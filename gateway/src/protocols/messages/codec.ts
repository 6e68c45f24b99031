import type { Codec } from '../codec.ts';
import { decodeRequest } from './decode-request.ts';
import { decodeResponse } from './decode-response.ts';
import { MessagesStreamDecoder } from './decode-stream.ts';
import { encodeRequest } from './encode-request.ts';
import { encodeResponse } from './encode-response.ts';
import { MessagesStreamEncoder } from './encode-stream.ts';

/** What clients of this protocol call things that others have other names for. */
const fieldNames: Readonly<Record<string, string>> = {
  audio: 'messages',
  cache: 'cache_control',
  citations: 'messages',
  file: 'messages',
  file_id: 'messages',
  format: 'output_config.format',
  image: 'messages',
  max_output_tokens: 'max_tokens',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
  reasoning: 'thinking',
  'reasoning.budget': 'thinking.budget_tokens',
  'reasoning.effort': 'output_config.effort',
  'reasoning.state': 'messages',
  response_format: 'output_config.format',
  'response_format.schema': 'output_config.format',
  stop: 'stop_sequences',
  tool_call: 'messages',
  tool_result: 'messages',
  user: 'metadata.user_id',
  video: 'messages',
};

/** Details of a thing are told by the member that holds it. */
const holders: readonly (readonly [prefix: string, member: string])[] = [
  ['tool.', 'tools'],
  ['tools.', 'tools'],
  ['image.', 'messages'],
  ['file.', 'messages'],
  ['message.', 'messages'],
  ['tool_call.', 'messages'],
  ['tool_result.', 'messages'],
];

function fieldName(what: string): string {
  if (Object.hasOwn(fieldNames, what)) return fieldNames[what] ?? what;
  return holders.find(([prefix]) => what.startsWith(prefix))?.[1] ?? what;
}

/** Messages, to and from the canonical model. */
export const messagesCodec = Object.freeze({
  name: 'messages',
  traits: Object.freeze({
    toolName: /^[a-zA-Z0-9_-]{1,128}$/,
    toolNameLength: 128,
    toolId: /^[a-zA-Z0-9_-]+$/,
    toolIdLength: 64,
    customTools: false,
    toolNamespaces: false,
    state: 'reasoning',
    mediaUrls: true,
    toolResultMedia: true,
  }),
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  createStreamDecoder: () => new MessagesStreamDecoder(),
  createStreamEncoder: (answer) => new MessagesStreamEncoder(answer),
  fieldName,
} satisfies Codec);
