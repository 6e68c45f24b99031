import { type Codec, type CodecTraits, settingsOf } from '../../codec.ts';
import { decodeRequest } from './request/decode-request.ts';
import { decodeResponse } from './response/decode-response.ts';
import { MessagesStreamDecoder } from './stream/decode-stream.ts';
import { encodeCount } from './request/encode-count.ts';
import { encodeRequest } from './request/encode-request.ts';
import { encodeResponse } from './response/encode-response.ts';
import { MessagesStreamEncoder } from './stream/encode-stream.ts';
import { fieldName } from './field-name.ts';
import { passedOn } from './passed-on.ts';
import { factsOf, longToolNames, shortToolNames } from '../native/repairs/model-facts.ts';

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
  forResponse: (request) => settingsOf(request),
  decodeResponse,
  encodeResponse,
  createStreamDecoder: () => new MessagesStreamDecoder(),
  createStreamEncoder: (context) => new MessagesStreamEncoder(context),
  fieldName,
} satisfies Codec);
