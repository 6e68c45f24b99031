import type { Codec } from '../codec.ts';
import { decodeRequest } from './decode-request.ts';
import { decodeResponse } from './decode-response.ts';
import { ChatStreamDecoder } from './decode-stream.ts';
import { encodeRequest } from './encode-request.ts';
import { encodeResponse } from './encode-response.ts';
import { ChatStreamEncoder } from './encode-stream.ts';

/** A chat client's names of what the canonical model calls otherwise. */
const fieldNames: ReadonlyMap<string, string> = new Map([
  ['max_output_tokens', 'max_completion_tokens'],
  ['choices', 'n'],
  ['format', 'response_format'],
  ['parallel_tools', 'parallel_tool_calls'],
  ['reasoning', 'reasoning_effort'],
  ['reasoning.effort', 'reasoning_effort'],
  ['reasoning.budget', 'reasoning_effort'],
  ['cache', 'prompt_cache_breakpoint'],
  ['cache_key', 'prompt_cache_key'],
  ['end_user', 'safety_identifier'],
  ['system', 'messages'],
  ['json', 'response_format'],
  ['message.name', 'messages.name'],
  ['tool.strict', 'tools.function.strict'],
  ['tool.schema', 'tools.function.parameters'],
  ['tool_call', 'tool_calls'],
  ['tool_call.arguments', 'tool_calls.function.arguments'],
  ['image', 'image_url'],
  ['image.url', 'image_url.url'],
  ['image.detail', 'image_url.detail'],
  ['audio', 'input_audio'],
  ['video', 'video_url'],
  ['video.url', 'video_url.url'],
  ['file.url', 'file.file_data'],
]);

/** Chat completions to and from the canonical model. */
export const chatCodec = Object.freeze({
  name: 'chat',
  traits: Object.freeze({
    toolName: /^[a-zA-Z0-9_-]+$/,
    toolNameLength: 64,
    toolId: /^[\x20-\x7e]+$/,
    toolIdLength: 40,
    customTools: true,
    toolNamespaces: false,
    // In `reasoning_details`, which some clients return; for the others it is remembered here.
    state: 'block',
    mediaUrls: true,
    toolResultMedia: false,
  }),
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  createStreamDecoder: () => new ChatStreamDecoder(),
  createStreamEncoder: (answer) => new ChatStreamEncoder(answer),
  fieldName: (what) => fieldNames.get(what) ?? what,
} satisfies Codec);
