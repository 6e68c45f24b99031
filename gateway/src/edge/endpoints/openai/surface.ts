import type { ErrorShape, RequestHead, Surface } from '#http/index.ts';
import { textProtocols } from '#protocols/index.ts';
import { messagesShape } from '../anthropic/surface.ts';
import { codexShape, isCodex } from './codex-errors.ts';

const base = '/v1';
const { chat, responses, 'generate-content': generateContent } = textProtocols;

/** OpenAI's API, and every path that no other surface covers. */
export const openaiSurfaces: readonly Surface[] = [
  { prefix: '/', base, shape: chat },
  {
    prefix: '/v1/responses',
    base,
    shape: (request) => (isCodex(request) ? codexShape : responses),
  },
  { prefix: '/v1/models/', base, shape: shapeOfModels },
];

/** Newer SDKs of generate-content call `/v1/models/{model}:…`, and two protocols share the model list. */
function shapeOfModels({ method, headers }: RequestHead, path: string): ErrorShape {
  const isCall = /:\w*$/.test(path);
  if (isCall && (method !== 'GET' || /:(?:generate|streamGenerate|count)\w+$/.test(path))) {
    return generateContent;
  }
  return headers['anthropic-version'] === undefined ? chat : messagesShape;
}
