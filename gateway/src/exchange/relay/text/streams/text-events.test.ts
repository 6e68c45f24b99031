import { describe, expect, test } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { streamOf } from '#body-work/index.ts';
import { textProtocols } from '#protocols/index.ts';
import { playClient, playUpstream, startAttempt } from '#test/support/played-attempt.ts';
import { UpstreamError } from '#upstream/index.ts';
import { createDrainSlots, type DrainSlots } from '../../overload/concurrency-gate.ts';
import { createFraming, StreamSink } from '../../stream-sink.ts';
import { TextEvents } from './text-events.ts';

const chunk = (value: object): Buffer =>
  Buffer.from(`data: ${JSON.stringify({ id: 'c', ...value })}\n\n`);
const said = chunk({ choices: [{ index: 0, delta: { content: 'so' }, finish_reason: null }] });
const ending = Buffer.concat([
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
  chunk({ choices: [], usage: { prompt_tokens: 30, completion_tokens: 900 } }),
  Buffer.from('data: [DONE]\n\n'),
]);

/** A stream of a channel that `bills_after_cancel`, whose client leaves at `leftAt` with some content before it. */
function leave({
  drains,
  disconnectedAt = 1_000,
  deadline = 1_800_000,
  sent = true,
  stays = false,
  protocol = 'chat',
  content = said,
}: {
  readonly drains: DrainSlots;
  readonly disconnectedAt?: number;
  readonly deadline?: number;
  /** Whether the upstream has had the request by then; without it there is no response either. */
  readonly sent?: boolean;
  /** The client does not leave. */
  readonly stays?: boolean;
  readonly protocol?: TextProtocolName;
  /** What comes first. */
  readonly content?: Buffer;
}) {
  const client = playClient();
  const played = playUpstream(sent);
  const monotonic = () => disconnectedAt;
  const wire = textProtocols[protocol];
  const onDefect = (error: unknown) => expect.fail(String(error));
  const receiver = new TextEvents({
    context: { clientModel: 'm', upstreamModel: 'm', usageInjected: false },
    sink: new StreamSink(client, wire, createFraming('event-stream'), monotonic),
    headers: {},
    reader: {
      protocol: wire,
      wire,
      stream: (body) => streamOf(body, wire, 'm'),
      record: () => {},
    },
    spending: null,
    monotonic,
    keepAliveMs: 15_000,
    onFirstContent: () => {},
    onShown: () => {},
    onDefect,
  });
  const attempt = startAttempt(receiver, {
    upstream: played.client,
    client,
    onLeave: 'drain',
    drains,
    monotonic,
    deadline,
    onDefect,
  });
  const upstream = played.listener;
  if (sent) {
    upstream.onHead(200, { 'content-type': 'text/event-stream' });
    upstream.onData(content);
  }
  if (!stays) attempt.clientDisconnected();
  return { attempt, upstream, aborted: () => played.isAborted };
}

describe('bills_after_cancel: an abandoned response is drained for its cost', () => {
  test('its usage is the whole response’s when the end comes within a minute', async () => {
    const { attempt, upstream, aborted } = leave({ drains: createDrainSlots(20) });
    attempt.tick(60_999);
    expect(aborted()).toBe(false);
    upstream.onData(ending);
    expect(await attempt.outcome).toMatchObject({
      kind: 'disconnected',
      isShown: true,
      seenResponse: { tap: { finished: true, usage: { tokens: { input: 30, output: 900 } } } },
    });
  });

  test('what the upstream was not even sent is cancelled', async () => {
    const { attempt, aborted } = leave({ drains: createDrainSlots(20), sent: false });
    expect(aborted()).toBe(true);
    expect(await attempt.outcome).toMatchObject({
      kind: 'disconnected',
      isSent: false,
      isShown: false,
    });
  });

  test('after a minute it is cancelled', async () => {
    const { attempt, aborted } = leave({ drains: createDrainSlots(20) });
    attempt.tick(60_999);
    expect(aborted()).toBe(false);
    attempt.tick(61_000);
    expect(aborted()).toBe(true);
    expect(await attempt.outcome).toMatchObject({
      kind: 'disconnected',
      seenResponse: { tap: { finished: false, usage: null } },
    });
  });

  test('earlier when the request’s own time is over', () => {
    const { attempt, aborted } = leave({ drains: createDrainSlots(20), deadline: 5_000 });
    attempt.tick(4_999);
    expect(aborted()).toBe(false);
    attempt.tick(5_000);
    expect(aborted()).toBe(true);
  });

  test.each([
    [1, 1],
    [20, 1],
    [40, 2],
    [5_000, 250],
  ])(
    'of %i places, %i may be read on at once: a twentieth, and one in any case',
    (places, share) => {
      const drains = createDrainSlots(places);
      const reading = Array.from({ length: share }, () => leave({ drains }));
      expect(reading.some(({ aborted }) => aborted())).toBe(false);
      expect(leave({ drains }).aborted()).toBe(true);
      // However one of them ends, its slot is free again.
      reading[0]!.upstream.onData(ending);
      const next = leave({ drains });
      expect(next.aborted()).toBe(false);
      expect(leave({ drains }).aborted()).toBe(true);
      next.attempt.tick(61_000);
      expect(leave({ drains }).aborted()).toBe(false);
    },
  );
});

describe('an upstream that keeps the connection open after its response', () => {
  const finish = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  const usage = chunk({ choices: [], usage: { prompt_tokens: 30, completion_tokens: 900 } });

  test('its finish and its usage are the end, a second after the last bytes', async () => {
    const { attempt, upstream, aborted } = leave({ drains: createDrainSlots(20), stays: true });
    attempt.tick(0);
    upstream.onData(finish);
    attempt.tick(5_000);
    upstream.onData(usage);
    attempt.tick(6_000);
    attempt.tick(6_999);
    let isOver = false;
    void attempt.outcome.then(() => (isOver = true));
    await Promise.resolve();
    expect(isOver).toBe(false);
    attempt.tick(7_000);
    const outcome = await attempt.outcome;
    expect(outcome).toMatchObject({
      kind: 'complete',
      response: { usage: { tokens: { output: 900 } } },
    });
    expect(outcome.kind === 'complete' && outcome.response.body.map(String).join('')).toMatch(
      /\[DONE\]/,
    );
    expect(aborted()).toBe(false);
  });

  const frames = (...events: object[]) =>
    Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  const stop = {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn' },
    usage: { output_tokens: 900 },
  };
  const message = { model: 'm', usage: { input_tokens: 30, output_tokens: 1 } };

  test.each<[TextProtocolName, Buffer, RegExp]>([
    [
      'messages',
      frames(
        { type: 'message_start', message },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'so' } },
        { type: 'content_block_stop', index: 0 },
        stop,
      ),
      /^event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/,
    ],
    [
      'generate-content',
      frames({
        candidates: [{ content: { parts: [{ text: 'so' }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 30, candidatesTokenCount: 900 },
      }),
      /"finishReason":"STOP"/,
    ],
    [
      'responses',
      frames({
        type: 'response.completed',
        response: { status: 'completed', usage: { input_tokens: 30, output_tokens: 900 } },
      }),
      /"status":"completed"/,
    ],
  ])('%s is complete and charged a second after its last bytes', async (protocol, bytes, end) => {
    const drains = createDrainSlots(20);
    const { attempt, upstream } = leave({ drains, stays: true, protocol, content: bytes });
    attempt.tick(6_000);
    attempt.tick(7_000);
    const outcome = await attempt.outcome;
    expect(outcome).toMatchObject({
      kind: 'complete',
      response: { usage: { tokens: { input: 30, output: 900 } } },
    });
    expect(outcome.kind === 'complete' && outcome.response.body.map(String).join('')).toMatch(end);
    upstream.onEnd();
  });

  test('without usage the end is when it has been silent for too long', async () => {
    const { attempt, upstream } = leave({ drains: createDrainSlots(20), stays: true });
    upstream.onData(finish);
    attempt.tick(1_000);
    attempt.tick(60_000);
    upstream.onBreak(new UpstreamError('started', 'idle-timeout', null));
    expect(await attempt.outcome).toMatchObject({ kind: 'complete', response: { usage: null } });
  });

  test('without a finish it broke off', async () => {
    const { attempt, upstream } = leave({ drains: createDrainSlots(20), stays: true });
    upstream.onData(usage);
    attempt.tick(1_000);
    attempt.tick(60_000);
    upstream.onBreak(new UpstreamError('started', 'idle-timeout', null));
    expect(await attempt.outcome).toMatchObject({ result: 'idle-timeout' });
  });
});
