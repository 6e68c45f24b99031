import type { ServerResponse } from 'node:http';
import { formatFrames, type Reply, type ReplyBody } from '../http/reply.ts';
import type { Delivery } from '../log/delivery.ts';
import type { Fault } from './fault.ts';
import { wait, waitForever } from './wait.ts';
import { createBodyWriter } from './writer.ts';

/** Sends a reply with the timing, the cuts and the framing of the fault. */
export async function deliver(
  response: ServerResponse,
  reply: Reply,
  fault: Fault,
  delivery: Delivery,
): Promise<void> {
  if (fault.refuse) return refuse(response, delivery);
  if (fault.stall) return waitForever(delivery.left);
  if (!(await wait(fault.delay ?? 0, delivery.left))) return;

  if (!isPaced(fault)) return deliverAtOnce(response, reply, fault, delivery);
  const frames = framesOf(reply.body, fault);
  writeHead(response, reply, frames, fault, delivery);
  if (!(await wait(fault['head-delay'] ?? fault['first-delay'] ?? 0, delivery.left))) return;

  const writer = createBodyWriter(response, fault);
  for (let position = 0; position <= frames.length; position++) {
    if (position === fault['cut-at']) return delivery.cut(response);
    if (position === fault['close-at']) break;
    if (position === fault['stall-at'] && !(await stall(fault, delivery.left))) return;
    const frame = frames[position];
    if (frame === undefined) break;
    if (position > 0 && !(await wait(fault.gap ?? 0, delivery.left))) return;
    await writer.write(frame);
    if (delivery.left.aborted) return;
    if (reply.body.kind === 'stream') delivery.countEvent();
  }
  await writer.finish();
  if (fault['close-early']) return delivery.cut(response);
  response.end();
}

/** Faults that act between the pieces of a body. */
const pacing = [
  'slice',
  'gzip',
  'gap',
  'head-delay',
  'first-delay',
  'cut-at',
  'close-at',
  'stall-at',
  'close-early',
] as const satisfies readonly (keyof Fault)[];

function isPaced(fault: Fault): boolean {
  return pacing.some((key) => fault[key] !== undefined);
}

/** The fast path for load tests: one write for the whole body. */
function deliverAtOnce(
  response: ServerResponse,
  reply: Reply,
  fault: Fault,
  delivery: Delivery,
): void {
  delivery.answered(reply.status);
  if (reply.body.kind === 'whole') {
    const length = Buffer.byteLength(reply.body.bytes);
    response.writeHead(reply.status, { ...reply.headers, 'content-length': length });
    response.end(reply.body.bytes);
    return;
  }
  response.writeHead(reply.status, reply.headers);
  response.write(joinFrames(reply.body, fault));
  delivery.countEvent(reply.body.events.length);
  response.end();
}

/** A cached stream of large pictures is sent to many clients: they share its bytes. */
const joined = new WeakMap<ReplyBody, Buffer>();
const sharedFrom = 256 * 1024;

function joinFrames(body: ReplyBody, fault: Fault): Buffer | string {
  const isReframed = fault.crlf ?? fault.comments ?? fault['no-final-blank'] ?? false;
  const known = isReframed ? undefined : joined.get(body);
  if (known) return known;
  const text = framesOf(body, fault).join('');
  if (isReframed || text.length < sharedFrom) return text;
  const bytes = Buffer.from(text);
  joined.set(body, bytes);
  return bytes;
}

function refuse(response: ServerResponse, delivery: Delivery): void {
  delivery.giveUp();
  response.socket?.resetAndDestroy();
}

async function stall(fault: Fault, left: AbortSignal): Promise<boolean> {
  if (fault['stall-ms'] !== undefined) return wait(fault['stall-ms'], left);
  await waitForever(left);
  return false;
}

function writeHead(
  response: ServerResponse,
  reply: Reply,
  frames: readonly (Uint8Array | string)[],
  fault: Fault,
  delivery: Delivery,
): void {
  const headers: Record<string, string | number> = { ...reply.headers };
  const bytes = frames.reduce((sum, frame) => sum + Buffer.byteLength(frame), 0);
  if (fault.gzip) headers['content-encoding'] = 'gzip';
  if (fault['close-early']) headers['content-length'] = bytes + 64;
  else if (reply.body.kind === 'whole' && !fault.gzip && fault['close-at'] === undefined) {
    headers['content-length'] = bytes;
  }
  delivery.answered(reply.status);
  response.writeHead(reply.status, headers);
  response.flushHeaders();
}

/** A body that is not a stream counts as two events, so that it can be cut in the middle. */
function framesOf(body: ReplyBody, fault: Fault): (Uint8Array | string)[] {
  if (body.kind === 'whole') {
    const bytes = typeof body.bytes === 'string' ? Buffer.from(body.bytes) : body.bytes;
    const middle = Math.ceil(bytes.length / 2);
    return bytes.length === 0 ? [] : [bytes.subarray(0, middle), bytes.subarray(middle)];
  }
  let frames = formatFrames(body.format, body.events);
  if (body.format === 'json-array') return frames;
  const last = frames.length - 1;
  if (fault['no-final-blank'] && last >= 0) {
    frames = frames.with(last, `${(frames[last] ?? '').trimEnd()}\n`);
  }
  if (fault.comments) frames = frames.map((frame) => `: simulator comment\n\n${frame}`);
  // A recording may have CR LF already.
  return fault.crlf ? frames.map((frame) => frame.replaceAll(/\r?\n/g, '\r\n')) : frames;
}
