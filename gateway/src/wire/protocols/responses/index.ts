import { encodeErrorObject } from '../error-object.ts';
import { commentKeepAlive } from '../frames.ts';
import type { Protocol } from '../protocol.ts';
import { encodeStreamError } from './errors.ts';
import { patchRequest } from './patches.ts';
import { openRequest, readRequest } from './request.ts';
import { toEvents, toWhole } from './reshape.ts';
import { readResponse } from './response.ts';
import { ResponsesStreamTap } from './stream-tap.ts';

export { responsesCodec } from './codec.ts';

/** Responses. */
export const responses = Object.freeze({
  name: 'responses',
  openRequest,
  readRequest,
  patchRequest,
  readResponse,
  toEvents,
  toWhole,
  createStreamTap: (context) => new ResponsesStreamTap(context),
  encodeError: encodeErrorObject,
  encodeStreamError,
  keepAlive: () => commentKeepAlive,
} satisfies Protocol);
