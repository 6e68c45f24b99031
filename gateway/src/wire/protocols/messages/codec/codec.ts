import type { Codec, CodecTraits } from '../../codec.ts';
import { settingsOf } from '../../settings-of.ts';
import { decodeRequest } from './decode-request.ts';
import { decodeResponse } from './decode-response.ts';
import { MessagesStreamDecoder } from './decode-stream.ts';
import { encodeCount } from './encode-count.ts';
import { encodeRequest } from './encode-request.ts';
import { encodeResponse } from './encode-response.ts';
import { MessagesStreamEncoder } from './encode-stream.ts';
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
  forAnswer: (request) => settingsOf(request),
  decodeResponse,
  encodeResponse,
  createStreamDecoder: () => new MessagesStreamDecoder(),
  createStreamEncoder: (answer) => new MessagesStreamEncoder(answer),
  fieldName,
} satisfies Codec);
