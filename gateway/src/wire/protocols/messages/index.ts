import { commentKeepAlive, frame } from '../frames.ts';
import type { Protocol } from '../protocol.ts';
import { encodeError, encodeStreamError } from './errors.ts';
import { patchRequest } from './patches.ts';
import { openRequest, readRequest } from './request.ts';
import { toEvents, toWhole } from './reshape.ts';
import { readResponse } from './response.ts';
import { MessagesStreamTap } from './stream-tap.ts';

export { messagesCodec } from './codec.ts';

const ping = frame('ping', '{"type":"ping"}');

/** Messages. */
export const messages = Object.freeze({
  name: 'messages',
  openRequest,
  readRequest,
  patchRequest,
  readResponse,
  toEvents,
  toWhole,
  createStreamTap: (context) => new MessagesStreamTap(context),
  encodeError,
  encodeStreamError,
  // The official parser wants `message_start` to be the first event.
  keepAlive: (begun) => (begun ? ping : commentKeepAlive),
} satisfies Protocol);
