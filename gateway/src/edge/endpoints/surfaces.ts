import type { ErrorShape, RequestHead, Surface } from '#http/index.ts';
import { encodeContentsError, encodeSynthesisError, textProtocols } from '#protocols/index.ts';
import { codexShape, isCodex } from './openai/codex-errors.ts';

const { chat, responses, messages, 'generate-content': generateContent } = textProtocols;

/** Anthropic's SDKs read the request id from `request-id`. */
const messagesShape: ErrorShape = {
  encodeError: messages.encodeError,
  requestIdHeader: 'request-id',
};
const synthesisShape: ErrorShape = { encodeError: encodeSynthesisError };

/** The ends of base URLs below which the first dialect of video tasks has its paths: ours, and the vendor's own. */
export const synthesisBases = ['/v1', '/api/v1'] as const;

/** Every client API. */
export const surfaces: readonly Surface[] = [
  // OpenAI's API, and every path that no other surface covers.
  { prefix: '/', base: '/v1', shape: chat },
  {
    prefix: '/v1/responses',
    base: '/v1',
    shape: (request) => (isCodex(request) ? codexShape : responses),
  },
  { prefix: '/v1/models/', base: '/v1', shape: shapeOfModels },
  // Anthropic's SDKs append `/v1` to the base URL themselves.
  { prefix: '/v1/messages', base: '', shape: messagesShape },
  { prefix: '/v1beta/', base: '/v1beta', shape: generateContent },
  ...synthesisBases.flatMap((base) => [
    { prefix: `${base}/services/`, base, shape: synthesisShape },
    { prefix: `${base}/tasks/`, base, shape: synthesisShape },
  ]),
  // The second dialect of video tasks.
  { prefix: '/api/v3/', base: '/api/v3', shape: { encodeError: encodeContentsError } },
];

/** Newer SDKs of generate-content call `/v1/models/{model}:…`, and two protocols share the model list. */
function shapeOfModels({ method, headers }: RequestHead, path: string): ErrorShape {
  const isCall = /:\w*$/.test(path);
  if (isCall && (method !== 'GET' || /:(?:generate|streamGenerate|count)\w+$/.test(path))) {
    return generateContent;
  }
  return headers['anthropic-version'] === undefined ? chat : messagesShape;
}
