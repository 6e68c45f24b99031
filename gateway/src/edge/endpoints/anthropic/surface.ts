import type { ErrorShape, Surface } from '#http/index.ts';
import { textProtocols } from '#protocols/index.ts';

/** Errors of the messages protocol. Anthropic's SDKs read the request id from `request-id`. */
export const messagesShape: ErrorShape = {
  encodeError: textProtocols.messages.encodeError,
  requestIdHeader: 'request-id',
};

/** Anthropic's API. Its SDKs append `/v1` to the base URL themselves. */
export const anthropicSurface: Surface = {
  prefix: '/v1/messages',
  base: '',
  shape: messagesShape,
};
