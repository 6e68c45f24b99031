import type { Protocol } from '../protocol.ts';
import { encodeError, encodeStreamError } from './errors.ts';
import { patchRequest, openRequest, readRequest } from './native/request.ts';
import { toEvents, toWhole } from './native/reshape.ts';
import { readResponse } from './native/response.ts';
import { leaveOutState } from './native/state-members.ts';
import { GenerateContentStreamTap } from './native/stream-tap.ts';

export { generateContentCodec } from './codec/codec.ts';

/** generateContent, streamGenerateContent and countTokens. */
export const generateContent = Object.freeze({
  name: 'generate-content',
  openRequest,
  readRequest,
  patchRequest,
  leaveOutState,
  readResponse,
  toEvents,
  toWhole,
  createStreamTap: (context) => new GenerateContentStreamTap(context),
  encodeError,
  encodeStreamError,
  // A blank line: the protocol's own command line client fails on comments.
  keepAlive: () => '\n',
} satisfies Protocol);
