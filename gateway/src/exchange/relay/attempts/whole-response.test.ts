import { describe, expect, test } from 'vitest';
import { GatewayError } from '#errors/index.ts';
import { textProtocols, type WireResponse } from '#protocols/index.ts';
import { playUpstream, startAttempt } from '#test/support/played-attempt.ts';
import { createDrainSlots, type DrainSlots } from '../overload/concurrency-gate.ts';
import type { RequestMemory } from '../exchange.ts';
import { ReadingResponse, ResponseTooComplex } from './response-reader.ts';
import { WholeResponse } from './whole-response.ts';

const response = Buffer.from(
  JSON.stringify({
    id: 'x',
    object: 'chat.completion',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }),
);

interface Limits {
  readonly largest?: number;
  readonly sizeIsRequested?: boolean;
  readonly memory?: RequestMemory;
  readonly reserved?: number;
}

function start(
  clientDeadline = Number.POSITIVE_INFINITY,
  drains: DrainSlots | null = createDrainSlots(20),
  sent = true,
  readInThread: (body: Buffer) => ReadingResponse<WireResponse> | null = () => null,
  { largest = 256 * 1024, sizeIsRequested = false, memory, reserved }: Limits = {},
) {
  const upstream = playUpstream(sent);
  const client = {
    disconnected: false,
    failedWith: null as GatewayError | null,
    fail(error: GatewayError) {
      client.disconnected = true;
      client.failedWith = error;
    },
  };
  const reader = {
    largest,
    sizeIsRequested,
    read: (body: Buffer) =>
      readInThread(body) ??
      textProtocols.chat.readResponse(body, { clientModel: 'm', upstreamModel: 'm' }),
  };
  const attempt = startAttempt(new WholeResponse<WireResponse>(reader), {
    upstream: upstream.client,
    client,
    onLeave: drains === null ? 'finish' : 'drain',
    drains: drains ?? createDrainSlots(20),
    monotonic: () => 0,
    memory,
    ...(reserved !== undefined && { reservedBytes: reserved }),
    deadline: 1_800_000,
    clientDeadline,
    onDefect: (error) => expect.fail(String(error)),
  });
  return { attempt, client, listener: upstream.listener, aborted: () => upstream.isAborted };
}

describe('R-19 a client that has left', () => {
  test('does not stop a response that comes within two minutes', async () => {
    const { attempt, client, listener, aborted } = start();
    client.disconnected = true;
    attempt.tick(1_000);
    attempt.tick(120_900);
    expect(aborted()).toBe(false);
    listener.onHead(200, {});
    listener.onData(response);
    listener.onEnd();
    expect(await attempt.outcome).toMatchObject({ kind: 'complete', status: 200 });
  });

  test('is not waited for when too many others have left, until one of these is done', async () => {
    const drains = createDrainSlots(20);
    const first = start(undefined, drains);
    const second = start(undefined, drains);
    first.client.disconnected = true;
    second.client.disconnected = true;
    first.attempt.tick(1_000);
    second.attempt.tick(1_000);
    expect([first.aborted(), second.aborted()]).toEqual([false, true]);
    expect(await second.attempt.outcome).toMatchObject({ kind: 'disconnected', status: null });

    first.listener.onHead(200, {});
    first.listener.onData(response);
    first.listener.onEnd();
    const third = start(undefined, drains);
    third.client.disconnected = true;
    third.attempt.tick(2_000);
    expect(third.aborted()).toBe(false);
  });

  test('is not waited for longer', async () => {
    const { attempt, client, aborted } = start();
    attempt.tick(500);
    client.disconnected = true;
    attempt.tick(1_000);
    attempt.tick(121_000);
    expect(aborted()).toBe(true);
    expect(await attempt.outcome).toMatchObject({
      kind: 'disconnected',
      status: null,
      isShown: false,
    });
  });

  test('is waited for until the deadline, however many others have left, if leaving must not make it free', async () => {
    const { attempt, client, aborted, listener } = start(undefined, null);
    client.disconnected = true;
    attempt.tick(1_799_999);
    expect(aborted()).toBe(false);
    listener.onHead(200, {});
    listener.onData(response);
    listener.onEnd();
    expect(await attempt.outcome).toMatchObject({ kind: 'complete', status: 200 });

    const late = start(undefined, null);
    late.client.disconnected = true;
    late.attempt.tick(1_800_000);
    expect(late.aborted()).toBe(true);
    expect(await late.attempt.outcome).toMatchObject({ kind: 'failed', result: 'deadline' });

    const unsent = start(undefined, null, false);
    unsent.client.disconnected = true;
    unsent.attempt.tick(1_000);
    expect(await unsent.attempt.outcome).toMatchObject({ kind: 'disconnected', isSent: false });
  });

  test('is not waited for when the upstream has not been sent anything', async () => {
    const { attempt, client, aborted } = start(undefined, undefined, false);
    client.disconnected = true;
    attempt.tick(1_000);
    expect(aborted()).toBe(true);
    expect(await attempt.outcome).toMatchObject({ kind: 'disconnected', isSent: false });
  });

  test('does not have its time-out minded any more', () => {
    const { attempt, client, aborted } = start(10_000);
    client.disconnected = true;
    attempt.tick(10_001);
    expect(aborted()).toBe(false);
  });
});

test('R-22 a client that gives up is answered first, and the channel is not blamed', async () => {
  const { attempt, client, aborted } = start(10_000, undefined, false);
  attempt.tick(9_999);
  expect(aborted()).toBe(false);
  attempt.tick(10_000);
  expect([aborted(), client.failedWith]).toEqual([true, null]);
  expect(await attempt.outcome).toMatchObject({
    kind: 'failed',
    result: 'client-deadline',
    final: { errorName: 'upstream_abnormal' },
  });
});

test('R-22 what a client asked for that gives up is awaited like that of one that leaves', async () => {
  const { attempt, client, aborted } = start(10_000);
  attempt.tick(10_000);
  expect(client.failedWith?.errorName).toBe('upstream_abnormal');
  attempt.tick(10_001);
  expect(aborted()).toBe(false);
  attempt.tick(130_001);
  expect(aborted()).toBe(true);
  expect(await attempt.outcome).toMatchObject({
    kind: 'disconnected',
    isSent: true,
    result: 'client-deadline',
  });
});

test.each([
  [true, 'uncertain'],
  [false, 'not-sent'],
])('an attempt that is ended before a response, sent: %s', async (sent, attemptClass) => {
  const { attempt } = start(undefined, undefined, sent);
  attempt.tick(1_800_000);
  expect(await attempt.outcome).toMatchObject({ class: attemptClass, result: 'deadline' });
});

describe('a large response', () => {
  /** One that came, and is being read in a thread. */
  const startLarge = () => {
    const { promise, resolve, reject } = Promise.withResolvers<WireResponse>();
    let given = 0;
    let abandoned = 0;
    const readInThread = (body: Buffer): ReadingResponse<WireResponse> => {
      given = body.length;
      return new ReadingResponse(promise, () => {
        abandoned += 1;
        reject(new GatewayError('unavailable'));
      });
    };
    const started = start(undefined, undefined, true, readInThread);
    started.listener.onHead(200, {});
    started.listener.onData(Buffer.alloc(256 * 1024, ' '));
    started.listener.onEnd();
    return { ...started, resolve, reject, given: () => given, abandoned: () => abandoned };
  };

  test('is complete when the thread has read it', async () => {
    const { attempt, resolve, given } = startLarge();
    expect(given()).toBe(256 * 1024);
    const read = { body: response, usage: null };
    resolve(read);
    expect(await attempt.outcome).toMatchObject({
      kind: 'complete',
      status: 200,
      response: read,
    });
  });

  test('that no thread can finish is an abnormal response', async () => {
    const { attempt, reject } = startLarge();
    reject(new ResponseTooComplex());
    expect(await attempt.outcome).toMatchObject({
      kind: 'failed',
      class: 'started',
      status: 200,
      result: 'too-complex',
      classification: { as: 'abnormal' },
    });
  });

  test('is nobody’s fault when the gateway stops meanwhile', async () => {
    const { attempt, reject } = startLarge();
    reject(new GatewayError('unavailable'));
    expect(await attempt.outcome).toMatchObject({
      kind: 'failed',
      final: { errorName: 'unavailable' },
    });
  });

  test('is not waited for beyond the deadline, or when nobody may wait any more', async () => {
    for (const [now, result] of [
      [1_800_000, 'deadline'],
      [1_000, 'ended'],
    ] as const) {
      const { attempt, abandoned } = startLarge();
      if (result === 'deadline') attempt.tick(now);
      else attempt.end(new GatewayError('unavailable'));
      expect(await attempt.outcome).toMatchObject({ kind: 'failed', result });
      expect(abandoned()).toBe(1);
    }
  });
});

test('a response beyond the largest that is read ends the attempt', async () => {
  const { attempt, listener, aborted } = start();
  listener.onHead(200, {});
  listener.onData(Buffer.alloc(256 * 1024 + 1, ' '));
  expect(aborted()).toBe(true);
  expect(await attempt.outcome).toMatchObject({ kind: 'failed', result: 'answer-too-large' });
});

test('the channel is not to blame for too large a response if the request determines the size', async () => {
  const { attempt, listener } = start(undefined, undefined, true, undefined, {
    sizeIsRequested: true,
  });
  listener.onHead(200, {});
  listener.onData(Buffer.alloc(256 * 1024 + 1, ' '));
  const outcome = await attempt.outcome;
  expect(outcome).toMatchObject({ result: 'answer-too-large' });
  expect(outcome).toHaveProperty('final.errorName', 'upstream_abnormal');
});

describe('memory for a large response', () => {
  const mebibyte = 2 ** 20;
  const startLimited = (limit: number, reserved?: number) => {
    const taken: number[] = [];
    const memory: RequestMemory = {
      tryMore: () => true,
      forgetBody: () => {},
      takeParsed: () => {},
      tryResponse(bytes) {
        taken.push(bytes);
        return bytes <= limit;
      },
      refuse: () => new GatewayError('overloaded', { retryAfter: 1 }),
      release: () => {},
    };
    const limits = { largest: 64 * mebibyte, memory, ...(reserved !== undefined && { reserved }) };
    return { ...start(undefined, undefined, true, undefined, limits), taken };
  };
  const piece = Buffer.alloc(mebibyte, ' ');

  test('is taken as it grows, and what is too much is given back at its end', async () => {
    const { attempt, listener, taken } = startLimited(64 * mebibyte);
    listener.onHead(200, {});
    listener.onData(piece);
    expect(taken).toEqual([]);
    for (let at = 0; at < 4; at += 1) listener.onData(piece);
    listener.onData(response);
    listener.onEnd();
    expect(taken).toEqual([4 * mebibyte, 10 * mebibyte, 5 * mebibyte + response.length]);
    expect(await attempt.outcome).toMatchObject({ kind: 'complete' });
  });

  test('is not taken again where it is reserved, and what is too much is given back at its end', () => {
    const { listener, taken } = startLimited(64 * mebibyte, 8 * mebibyte);
    listener.onHead(200, {});
    for (let at = 0; at < 8; at += 1) listener.onData(piece);
    expect(taken).toEqual([]);
    listener.onData(response);
    listener.onEnd();
    expect(taken).toEqual([16 * mebibyte + 2 * response.length, 8 * mebibyte + response.length]);
  });

  test('is taken at once if the length is declared', () => {
    const { listener, taken } = startLimited(64 * mebibyte);
    listener.onHead(200, { 'content-length': String(30 * mebibyte) });
    for (let at = 0; at < 9; at += 1) listener.onData(piece);
    expect(taken).toEqual([30 * mebibyte]);
  });

  test('that there is not ends the attempt, blames no channel and is given back', async () => {
    const { attempt, listener, aborted, taken } = startLimited(6 * mebibyte);
    listener.onHead(200, {});
    for (let at = 0; at < 5; at += 1) listener.onData(piece);
    expect(aborted()).toBe(true);
    expect(taken).toEqual([4 * mebibyte, 10 * mebibyte, 0]);
    const outcome = await attempt.outcome;
    expect(outcome).toMatchObject({ kind: 'failed', result: 'no-memory' });
    expect(outcome).toHaveProperty('final.errorName', 'overloaded');
  });
});
