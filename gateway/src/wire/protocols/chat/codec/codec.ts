import { type Codec, type CodecTraits, type MediaType, settingsOf } from '../../codec.ts';
import { decodeRequest } from './request/decode-request.ts';
import { decodeResponse } from './response/decode-response.ts';
import { ChatStreamDecoder } from './stream/decode-stream.ts';
import { encodeRequest } from './request/encode-request.ts';
import { encodeResponse } from './response/encode-response.ts';
import { ChatStreamEncoder } from './stream/encode-stream.ts';
import { fieldName } from './field-name.ts';
import { isLegacyMark } from './legacy-calls.ts';

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
