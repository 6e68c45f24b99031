import { commentKeepAlive, frame } from '../shared/text/events.ts';
import type { Protocol } from '../protocol.ts';
import { encodeError, encodeStreamError } from './errors.ts';
import { openRequest, patchRequest, readRequest } from './native/request.ts';
import { toEvents, toWhole } from './native/reshape.ts';
import { readResponse } from './native/response.ts';
import { leaveOutState } from './native/state-members.ts';
import { MessagesStreamTap } from './native/stream-tap.ts';

export { messagesCodec } from './codec/codec.ts';

const ping = frame('ping', '{"type":"ping"}');

/** Messages. */
export const messages = Object.freeze({
  name: 'messages',
  openRequest,
  readRequest,
  patchRequest,
  leaveOutState,
  readResponse,
  toEvents,
  toWhole,
  createStreamTap: (context) => new MessagesStreamTap(context),
  encodeError,
  encodeStreamError,
  // The official parser requires `message_start` to be the first event.
  keepAlive: (begun) => (begun ? ping : commentKeepAlive),
} satisfies Protocol);
