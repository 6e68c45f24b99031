import { type Codec, type MediaType, settingsOf } from '../../codec.ts';
import { decodeRequest } from './request/decode-request.ts';
import { decodeResponse } from './response/decode-response.ts';
import { createStreamDecoder } from './stream/decode-stream.ts';
import { encodeCount } from './request/encode-count.ts';
import { encodeRequest } from './request/encode-request.ts';
import { encodeResponse } from './response/encode-response.ts';
import { createStreamEncoder } from './stream/encode-stream.ts';
import { fieldName } from './field-name.ts';
import { passedOn } from './passed-on.ts';

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
  forResponse: (request) => settingsOf(request),
  decodeResponse,
  encodeResponse,
  createStreamDecoder,
  createStreamEncoder,
  fieldName,
} satisfies Codec);
