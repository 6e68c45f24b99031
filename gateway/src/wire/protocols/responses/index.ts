import { encodeErrorObject } from '../shared/text/error-object.ts';
import { commentKeepAlive } from '../shared/text/events.ts';
import type { Protocol } from '../protocol.ts';
import { encodeStreamError } from './errors.ts';
import { patchRequest, openRequest, readRequest } from './native/request.ts';
import { toEvents, toWhole } from './native/reshape.ts';
import { readResponse } from './native/response.ts';
import { leaveOutState } from './native/state-members.ts';
import { ResponsesStreamTap } from './native/stream-tap.ts';

export { responsesCodec } from './codec/codec.ts';

/** Responses. */
export const responses = Object.freeze({
  name: 'responses',
  openRequest,
  readRequest,
  patchRequest,
  leaveOutState,
  readResponse,
  toEvents,
  toWhole,
  createStreamTap: (context) => new ResponsesStreamTap(context),
  encodeError: encodeErrorObject,
  encodeStreamError,
  keepAlive: () => commentKeepAlive,
} satisfies Protocol);
