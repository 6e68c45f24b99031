import type { Reply, ReplyBody, WireEvent } from '../http/reply.ts';
import { Rejection } from '../rejection.ts';
import type { Fault } from './fault.ts';
import { randomBytes } from './random.ts';

/** The parts of a protocol that a fault needs: the vendor's form of a failure. */
export interface FaultVoice {
  reject(rejection: Rejection): Reply;
  errorEvent(rejection: Rejection): WireEvent;
  isDone(event: WireEvent): boolean;
}

/** A mark in every simulated upstream failure. It must never reach a gateway's client. */
export const canary = 'CANARY-upstream-text';

/** Replaces the response, or its events, as the fault requires. Pure; delivery comes later. */
export function distortReply(reply: Reply, fault: Fault, voice: FaultVoice): Reply {
  const failure = failureOf(fault);
  const errorAt = reply.body.kind === 'stream' ? errorPosition(fault) : undefined;
  if (fault.redirect) {
    return plainReply(302, '', { location: 'https://simulator.invalid/elsewhere' });
  }
  if (fault.html) return plainReply(fault.status ?? 200, htmlPage, { 'content-type': 'text/html' });
  if (fault.empty) return plainReply(fault.status ?? 200, '', reply.headers);
  if (fault.garbage) {
    return plainReply(fault.status ?? 200, randomBytes(512, fault.seed ?? 1), reply.headers);
  }
  if (errorAt !== undefined) return replaceTail(reply, errorAt, voice.errorEvent(failure));
  if (fault.status !== undefined || fault['error-first'] || fault['error-at'] !== undefined) {
    const refused = voice.reject(failure);
    return { ...refused, headers: { ...refused.headers, ...retryHeader(fault) } };
  }
  const ended = fault.ending === undefined ? reply : withEnding(reply, fault.ending);
  return fault['no-done'] ? withoutDone(ended, voice) : ended;
}

/** Replaces the word for how the response ended, in whichever protocol it is. */
function withEnding(reply: Reply, word: string): Reply {
  const { body } = reply;
  const replace = (json: string): string =>
    json.includes('"object":"response"')
      ? json.replace('"status":"completed"', `"status":"${word}"`)
      : json.replaceAll(/"(finish_reason|finishReason|stop_reason)":"\w+"/g, `"$1":"${word}"`);
  if (body.kind === 'whole') {
    return { ...reply, body: { ...body, bytes: replace(Buffer.from(body.bytes).toString()) } };
  }
  return mapStream(reply, (events) =>
    events.map((event) => ({ ...event, data: replace(event.data) })),
  );
}

/** The event to be replaced by an error, if the fault is an error inside the stream. */
function errorPosition(fault: Fault): number | undefined {
  if (fault['error-first']) return 0;
  return fault['error-at'] ?? (fault.status === undefined ? undefined : fault.after);
}

function failureOf(fault: Fault): Rejection {
  const status = fault.status ?? 500;
  const seconds = fault['retry-after'];
  const wait = seconds === undefined ? '' : ` Please retry in ${seconds}s.`;
  const details =
    seconds === undefined
      ? {}
      : {
          details: [
            { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` },
          ],
        };
  return new Rejection(status, `Simulated failure ${status} (${canary}).${wait}`, details);
}

function retryHeader(fault: Fault): Record<string, string> {
  const seconds = fault['retry-after'];
  return seconds === undefined ? {} : { 'retry-after': String(seconds) };
}

function replaceTail(reply: Reply, position: number, error: WireEvent): Reply {
  return mapStream(reply, (events) => [...events.slice(0, position), error]);
}

function withoutDone(reply: Reply, voice: FaultVoice): Reply {
  return mapStream(reply, (events) => events.filter((event) => !voice.isDone(event)));
}

function mapStream(
  reply: Reply,
  change: (events: readonly WireEvent[]) => readonly WireEvent[],
): Reply {
  const { body } = reply;
  return body.kind === 'stream'
    ? { ...reply, body: { ...body, events: change(body.events) } }
    : reply;
}

function plainReply(
  status: number,
  bytes: Uint8Array | string,
  headers: Readonly<Record<string, string>>,
): Reply {
  return { status, headers, body: { kind: 'whole', bytes } satisfies ReplyBody };
}

const htmlPage = `<!doctype html>
<html><head><title>Bad gateway</title></head>
<body><h1>Bad gateway</h1><p>${canary}</p></body></html>
`;
