import type { Codec, CodecTraits } from '../../codec.ts';
import { decodeRequest } from './request/decode-request.ts';
import { decodeResponse } from './response/decode-response.ts';
import { createStreamDecoder } from './stream/decode-stream.ts';
import { encodeCount } from './request/encode-count.ts';
import { encodeRequest } from './request/encode-request.ts';
import { encodeResponse } from './response/encode-response.ts';
import { ResponsesStreamEncoder } from './stream/encode-stream.ts';
import { fieldName } from './field-name.ts';
import { ownValue } from './own-extension.ts';
import { withoutLogprobs } from './stream/lean-event.ts';

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
