export { chatCodec } from './codec.ts';
import { commentKeepAlive, frame } from '../frames.ts';
import { encodeErrorObject } from '../error-object.ts';
import type { Protocol } from '../protocol.ts';
import { patchRequest } from './patches.ts';
import { openRequest, readRequest } from './request.ts';
import { toEvents, toWhole } from './reshape.ts';
import { readResponse } from './response.ts';
import { ChatStreamTap } from './stream-tap.ts';

/** Chat completions. */
export const chat = Object.freeze({
  name: 'chat',
  openRequest,
  readRequest,
  patchRequest,
  readResponse,
  toEvents,
  toWhole,
  createStreamTap: (context) => new ChatStreamTap(context),
  encodeError: encodeErrorObject,
  encodeStreamError: (error) => frame(null, encodeErrorObject(error)),
  keepAlive: () => commentKeepAlive,
} satisfies Protocol);
