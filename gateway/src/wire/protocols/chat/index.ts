export { chatCodec } from './codec/codec.ts';
import { commentKeepAlive, frame } from '../shared/text/events.ts';
import { encodeErrorObject, encodeStreamErrorObject } from '../shared/text/error-object.ts';
import type { Protocol } from '../protocol.ts';
import { openRequest, patchRequest, readRequest } from './native/request.ts';
import { toEvents, toWhole } from './native/reshape.ts';
import { readResponse } from './native/response.ts';
import { leaveOutState } from './native/state-members.ts';
import { ChatStreamTap } from './native/stream-tap.ts';

/** Chat completions. */
export const chat = Object.freeze({
  name: 'chat',
  openRequest,
  readRequest,
  patchRequest,
  leaveOutState,
  readResponse,
  toEvents,
  toWhole,
  createStreamTap: (context) => new ChatStreamTap(context),
  encodeError: encodeErrorObject,
  encodeStreamError: (error) => frame(null, encodeStreamErrorObject(error)),
  keepAlive: () => commentKeepAlive,
} satisfies Protocol);
