import { expect, test } from 'vitest';
import { GatewayError } from '#errors/index.ts';
import { images } from '#protocols/index.ts';
import { UpstreamError, type UpstreamListener, type UpstreamRequest } from '#upstream/index.ts';
import { findVendor } from '#vendors/index.ts';
import { nothingUsed } from '../exchange/measured.ts';
import { createFraming } from '../streams/framing.ts';
import { StreamSink } from '../streams/stream-sink.ts';
import { ImageStreamAttempt } from './image-stream-attempt.ts';

const event = (type: string): Buffer =>
  Buffer.from(`data: ${JSON.stringify({ type, b64_json: 'AAAA', size: '512x512' })}\n\n`);
const partial = event('image_generation.partial_image');
const final = event('image_generation.completed');
const measured = { ...nothingUsed, source: 'reported' as const };

/** A stream that breaks after these events. The client does not read what is written before. */
function breakAfter(events: readonly Buffer[], heldUpMs: number) {
  let listener: UpstreamListener | null = null;
  let now = 0;
  let answered = 0;
  const client = {
    headSent: false,
    halfClosed: false,
    disconnected: false,
    failedWith: null,
    fail: () => {},
    onDrain: () => {},
    onDisconnect: () => {},
    start: () => void (client.headSent = true),
    write: () => false,
    end: () => {},
  };
  const monotonic = () => now;
  const names = images.eventNamesFor('generation', {});
  const attempt = new ImageStreamAttempt({} as UpstreamRequest, {
    upstream: {
      send(_request, given) {
        listener = given;
        return { sent: true, pause: () => {}, resume: () => {}, abort: () => {} };
      },
      close: async () => {},
    },
    vendor: findVendor('simulator')!,
    client,
    events: images,
    tap: images.createStreamTap({
      clientModel: 'm',
      upstreamModel: 'm',
      names,
      accepts: () => true,
    }),
    meter: { accepts: () => true, measure: () => measured, unitsOf: () => ({ images: 1 }) },
    sink: new StreamSink(client, images, createFraming('event-stream'), monotonic),
    reader: { largest: 1, read: () => expect.fail('no whole response') },
    ticker: { add: () => ({ end: () => {} }) } as never,
    monotonic,
    keepAliveMs: 10_000,
    deadline: 1_000_000,
    headers: () => ({}),
    onAnswered: () => (answered += 1),
    onFirstContent: () => {},
    errorOf: () => new GatewayError('upstream_abnormal'),
    reserved: 1_000_000,
    onDefect: (error) => expect.fail(String(error)),
  });
  const upstream = listener as unknown as UpstreamListener;
  upstream.onHead(200, { 'content-type': 'text/event-stream' });
  expect(answered).toBe(1);
  for (const each of events) upstream.onData(each);
  now = heldUpMs;
  upstream.onBreak(new UpstreamError('started', 'reset', new Error('cut')));
  return attempt.outcome;
}

test.each([
  ['with a final picture, and a client that kept it waiting', [partial, final], 5_000, measured],
  ['with a final picture, and a client that hardly did', [partial, final], 4_999, null],
  ['without a final picture', [partial], 60_000, null],
] as const)('a stream that breaks %s', async (_, events, heldUpMs, owed) => {
  const outcome = await breakAfter(events, heldUpMs);
  expect(outcome).toMatchObject({ kind: 'broken', result: 'reset', units: { images: 1 } });
  expect(outcome).toHaveProperty('measured', owed);
});
