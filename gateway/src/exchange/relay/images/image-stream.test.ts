import { expect, test } from 'vitest';
import { GatewayError } from '#errors/index.ts';
import { images } from '#protocols/index.ts';
import { playClient, playUpstream, startAttempt } from '#test/support/played-attempt.ts';
import { UpstreamError } from '#upstream/index.ts';
import { createDrainSlots } from '../overload/concurrency-gate.ts';
import { nothingUsed } from '../ending/record.ts';
import type { TickListener } from '../ticker.ts';
import { createFraming, StreamSink } from '../stream-sink.ts';
import { ImageStream } from './image-stream.ts';

const event = (type: string): Buffer =>
  Buffer.from(`data: ${JSON.stringify({ type, b64_json: 'AAAA', size: '512x512' })}\n\n`);
const partial = event('image_generation.partial_image');
const final = event('image_generation.completed');
const measured = { ...nothingUsed, source: 'reported' as const };

/**
 * A streamed request that has been sent.
 * @param keepsUp whether the client reads what is written
 */
function sendRequest(keepsUp = false) {
  let ticks: TickListener | null = null;
  let now = 0;
  let answered = 0;
  const client = playClient();
  client.write = () => keepsUp;
  const upstream = playUpstream();
  const monotonic = () => now;
  const names = images.eventNamesFor('generation', {});
  const deadline = 1_000_000;
  const receiver = new ImageStream({
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
    monotonic,
    keepAliveMs: 10_000,
    deadline,
    headers: () => ({}),
    onFirstContent: () => {},
  });
  const attempt = startAttempt(receiver, {
    upstream: upstream.client,
    client,
    ticker: {
      add(given) {
        ticks = given;
        return { end: () => {} };
      },
    },
    onLeave: 'finish',
    drains: createDrainSlots(20),
    monotonic,
    deadline,
    onAnswered: () => (answered += 1),
    reservedBytes: 1_000_000,
    memory: { tryResponse: () => false, refuse: () => new GatewayError('overloaded') } as never,
    onDefect: (error) => expect.fail(String(error)),
  });
  return {
    client,
    end: () => attempt.end(new GatewayError('unavailable')),
    outcome: attempt.outcome,
    upstream: upstream.listener,
    answers: () => answered,
    isPaused: () => upstream.isPaused,
    waitUntil(time: number) {
      now = time;
      (ticks as unknown as TickListener).tick(now);
    },
  };
}

/** A stream that breaks after these events. */
function breakAfter(events: readonly Buffer[], heldUpMs: number) {
  const { upstream, outcome, answers, waitUntil } = sendRequest();
  upstream.onHead(200, { 'content-type': 'text/event-stream' });
  expect(answers()).toBe(1);
  for (const each of events) upstream.onData(each);
  waitUntil(heldUpMs);
  upstream.onBreak(new UpstreamError('started', 'reset', new Error('cut')));
  return outcome;
}

test.each([
  ['with a final picture, and a client that kept it waiting', [partial, final], 5_000, measured],
  ['with a final picture, and a client that hardly did', [partial, final], 4_999, null],
  ['without a final picture', [partial], 60_000, null],
] as const)('a stream that breaks %s', async (_, events, heldUpMs, owed) => {
  const outcome = await breakAfter(events, heldUpMs);
  expect(outcome).toMatchObject({ kind: 'broken', result: 'reset', units: { images: 1 } });
  expect(outcome).toHaveProperty('seenResponse', owed);
});

test('A client gets its head after ten seconds even if the upstream has not responded', () => {
  const { client, waitUntil } = sendRequest();
  waitUntil(9_999);
  expect(client.headSent).toBe(false);
  waitUntil(10_000);
  expect(client.headSent).toBe(true);
});

test('A client gets the status of an error whose body takes long', () => {
  const { client, upstream, waitUntil } = sendRequest();
  upstream.onHead(429, {});
  waitUntil(10_000);
  expect(client.headSent).toBe(false);
});

const done = Buffer.from('data: [DONE]\n\n');

test('a client that reads slowly until its time is nearly up pays for what it kept from coming', async () => {
  const { upstream, outcome, isPaused, waitUntil } = sendRequest();
  upstream.onHead(200, { 'content-type': 'text/event-stream' });
  upstream.onData(partial);
  waitUntil(969_999);
  expect(isPaused()).toBe(true);
  waitUntil(970_000);
  expect(isPaused()).toBe(false);
  upstream.onData(final);
  expect(isPaused()).toBe(false);
  upstream.onData(done);
  expect(await outcome).toMatchObject({
    kind: 'broken',
    result: 'deadline',
    seenResponse: measured,
  });
});

test.each(['no-memory', 'ended'])(
  'what a client has is paid if the gateway breaks the rest: %s',
  async (result) => {
    const { upstream, outcome, end } = sendRequest(true);
    upstream.onHead(200, { 'content-type': 'text/event-stream' });
    upstream.onData(partial);
    upstream.onData(final);
    if (result === 'ended') end();
    else upstream.onData(Buffer.alloc(1_000_001, 'data: '));
    expect(await outcome).toMatchObject({ kind: 'broken', result, seenResponse: measured });
  },
);

test('a client that keeps up gets its pictures until its time is up', async () => {
  const { upstream, outcome, waitUntil } = sendRequest(true);
  upstream.onHead(200, { 'content-type': 'text/event-stream' });
  upstream.onData(partial);
  waitUntil(999_999);
  upstream.onData(final);
  upstream.onData(done);
  expect(await outcome).toMatchObject({ kind: 'complete', response: { measuredUsage: measured } });
});
