import type { Codec, MediaType } from '../../codec.ts';
import { settingsOf } from '../../settings-of.ts';
import { decodeRequest } from './decode-request.ts';
import { decodeResponse } from './decode-response.ts';
import { createStreamDecoder } from './decode-stream.ts';
import { encodeCount } from './encode-count.ts';
import { encodeRequest } from './encode-request.ts';
import { encodeResponse } from './encode-response.ts';
import { createStreamEncoder } from './encode-stream.ts';
import { fieldName } from './field-name.ts';
import { passedOn } from './passed-on.ts';

export const generateContentCodec = Object.freeze({
  name: 'generate-content',
  passedOn,
  traits: Object.freeze({
    toolName: /^[A-Za-z_][A-Za-z0-9_.:-]*$/,
    // Newer models take 128, the others 64.
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
  forAnswer: (request) => settingsOf(request),
  decodeResponse,
  encodeResponse,
  createStreamDecoder,
  createStreamEncoder,
  fieldName,
} satisfies Codec);
