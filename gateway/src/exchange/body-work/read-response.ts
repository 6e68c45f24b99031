import type { ReportedUsage } from '#canonical/index.ts';
import type { ResponseReader } from '#conversion/index.ts';
import {
  isRecord,
  mergeReports,
  parseExact,
  UnreadableResponse,
  verdict,
  type JsonRecord,
  type Protocol,
  type StreamEvent,
  type WireResponse,
} from '#protocols/index.ts';
import { EventStreamReader, EventTooLarge } from '#upstream/event-stream.ts';

/** The upstream's protocol, whatever the client uses. */
export type WireProtocol = Pick<
  Protocol,
  'name' | 'readResponse' | 'createStreamTap' | 'toEvents' | 'toWhole'
>;

const openingBrace = 0x7b;
const eventStart = /^(?:data|event|id|retry)?:/;

/**
 * Whether the body begins like a JSON object. Some servers respond so to a streaming request, with either content type.
 */
export function beginsAsJson(bytes: Buffer): boolean {
  return bytes[startOf(bytes)] === openingBrace;
}

/** Whether the body begins like an event stream, which some servers send whatever was requested. */
export function beginsAsEvents(bytes: Buffer): boolean {
  const start = startOf(bytes);
  return eventStart.test(bytes.toString('latin1', start, start + 8));
}

/** The first byte after white space and a byte order mark. */
function startOf(bytes: Buffer): number {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (at < bytes.length && (bytes[at] ?? 0) <= 0x20) at += 1;
  return at;
}

/**
 * Converts a complete response to stream frames of the same protocol.
 * @throws UnreadableResponse if it is not a response of this protocol.
 */
export function streamOf(body: Buffer, protocol: WireProtocol, model: string): Buffer {
  protocol.readResponse(body, { clientModel: model, upstreamModel: model });
  const response = parseExact(body.toString('utf8'));
  return Buffer.from(isRecord(response) ? protocol.toEvents(response) : '');
}

/** A complete response that came as a stream. */
interface JoinedResponse {
  readonly body: Buffer;
  /** Of all reports in the stream. */
  readonly usage: ReportedUsage | null;
}

/**
 * Converts a complete stream to a complete response of the same protocol.
 * @throws UnreadableResponse if the stream failed, broke off, or is not of this protocol.
 */
function wholeOf(body: Buffer, protocol: WireProtocol, model: string): JoinedResponse {
  const tap = protocol.createStreamTap({
    clientModel: model,
    upstreamModel: model,
    usageInjected: false,
  });
  const events: JsonRecord[] = [];
  const reader = new EventStreamReader({
    maxEventBytes: largestResponse,
    onEvent(event) {
      if ((tap.inspect(event) & verdict.failed) !== 0) {
        throw new UnreadableResponse('the stream failed', tap.failure, tap.usage);
      }
      const record = recordOf(event);
      if (record !== null) events.push(record);
    },
  });
  try {
    reader.push(body);
    reader.end();
  } catch (error) {
    if (!(error instanceof EventTooLarge)) throw error;
    throw new UnreadableResponse(error.message, null, tap.usage);
  }
  if (!tap.finished) throw new UnreadableResponse('the stream broke off', null, tap.usage);
  return { body: Buffer.from(JSON.stringify(protocol.toWhole(events))), usage: tap.usage };
}

/** Null for comments and `[DONE]`. The type may be in the event name only. */
function recordOf({ data, name }: StreamEvent): JsonRecord | null {
  if (data === null || !beginsAsJson(data)) return null;
  const record = parseExact(data.toString('utf8'));
  if (!isRecord(record)) return null;
  return name === null || 'type' in record ? record : { type: name, ...record };
}

/** A complete response is held in memory before the client sees it; this is its limit. */
export const largestResponse = 64 * 1024 * 1024;

/**
 * Reads a complete response, which some upstreams send as a stream although none was requested.
 * @param wire the upstream's protocol; null: it has no other form
 * @throws UnreadableResponse
 */
export function readWholeResponse(
  body: Buffer,
  wire: WireProtocol | null,
  reader: Pick<ResponseReader, 'readResponse'>,
  echo: Parameters<ResponseReader['readResponse']>[1],
): WireResponse {
  if (wire === null || !beginsAsEvents(body)) return reader.readResponse(body, echo);
  const joinedResponse = wholeOf(body, wire, echo.upstreamModel);
  const response = reader.readResponse(joinedResponse.body, echo);
  return { ...response, usage: mergeReports(joinedResponse.usage, response.usage) };
}
