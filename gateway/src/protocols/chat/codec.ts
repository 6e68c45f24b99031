import type { Codec } from '../codec.ts';
import { decodeRequest } from './decode-request.ts';
import { decodeResponse } from './decode-response.ts';
import { ChatStreamDecoder } from './decode-stream.ts';
import { encodeRequest } from './encode-request.ts';
import { encodeResponse } from './encode-response.ts';
import { ChatStreamEncoder } from './encode-stream.ts';
import { fieldName } from './field-name.ts';

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
  fieldName,
} satisfies Codec);
