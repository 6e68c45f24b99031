import type { TextProtocolName } from '#canonical/index.ts';
import {
  type StreamTap,
  textProtocols,
  UnreadableResponse,
  verdict,
  type WireResponse,
} from '#protocols/index.ts';
import { requestOf } from '../support/canonical.ts';
import { readerOf } from '../support/converted-reader.ts';
import { type Recording, recordings } from './recordings.ts';
import { eachEvent, sameNames } from './tap-run.ts';

export const clients = Object.keys(textProtocols) as TextProtocolName[];

const isGood = ({ status, notes }: Recording) =>
  status === 200 && !/error (object|event) inside the stream/.test(notes);
/** A call that only its own vendor's clients can carry out; nobody else is offered the tool. */
const isForeignCall = ({ notes }: Recording) => notes.includes('output apply_patch_call');

/** Streamed responses that came to a good end. */
export const streams = recordings.filter(
  (each) => typeof each.sse === 'string' && isGood(each) && !isForeignCall(each),
);

/** Whole responses. */
export const bodies = recordings.filter(
  (each) => each.body !== undefined && each.sse == null && isGood(each) && isResponse(each),
);

function isResponse({ protocol, body, endpoint }: Recording): boolean {
  if (/count|input_tokens/i.test(endpoint)) return false;
  try {
    textProtocols[protocol].readResponse(Buffer.from(JSON.stringify(body)), sameNames);
    return true;
  } catch (error) {
    if (error instanceof UnreadableResponse) return false;
    throw error;
  }
}

/**
 * What a streaming client of another protocol is sent of a recorded stream.
 * @param cut the pieces in which its bytes come; in one when absent.
 */
export function streamTo(
  client: TextProtocolName,
  { protocol, sse }: Recording,
  cut: (bytes: Buffer) => readonly Buffer[] = (bytes) => [bytes],
): { readonly tap: StreamTap; readonly failed: boolean; readonly sent: string } {
  const request = requestOf({ wantsUsage: true, stream: true });
  const tap = readerOf(protocol, client, request).createStreamTap(sameNames);
  let sent = '';
  let failed = false;
  eachEvent(cut(Buffer.from(sse ?? '')), (event) => {
    const flags = tap.inspect(event);
    if (flags & verdict.failed) failed = true;
    if (flags & verdict.replace) sent += String(tap.replacement);
  });
  return { tap, failed, sent: sent + tap.completion() };
}

/** What a client of another protocol is sent of a recorded whole response. */
export function bodyTo(client: TextProtocolName, { protocol, body }: Recording): WireResponse {
  return readerOf(protocol, client).readResponse(Buffer.from(JSON.stringify(body)), sameNames);
}
