import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../src/index.ts';
import { ask, askRaw, askStream, eventsOf, minimal, protocolNames, type Json } from './client.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());
beforeEach(() => simulator.clear());

const fault = (text: string) => ({ 'x-simulator-fault': text });
const stream = { stream: true };
const canary = 'CANARY-upstream-text';

describe('a status', () => {
  test.each(protocolNames)('comes in the error shape of %s', async (protocol) => {
    const response = await ask(simulator, protocol, {}, fault('status=429;retry-after=7'));
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(response.json.error.message).toContain(canary);
    const names: Record<string, Json> = {
      chat: { error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } },
      responses: { error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } },
      messages: { type: 'error', error: { type: 'rate_limit_error' } },
      generateContent: { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } },
    };
    expect(response.json).toMatchObject(names[protocol]);
  });

  test('can be limited to the first requests', async () => {
    const asked = fault('status=503;times=2');
    const statuses: number[] = [];
    for (let index = 0; index < 4; index++) {
      statuses.push((await ask(simulator, 'chat', {}, asked)).status);
    }
    expect(statuses).toEqual([503, 503, 200, 200]);
    expect((await ask(simulator, 'chat', {}, fault('status=503;times=2;id=b'))).status).toBe(503);
    simulator.clear();
    expect((await ask(simulator, 'chat', {}, asked)).status).toBe(503);
  });

  test('can be asked for by model name and by base address', async () => {
    const named = await ask(simulator, 'chat', { model: 'demo-chat+fault(status=500)' });
    expect(named.status).toBe(500);
    const { path, headers, body } = minimal.messages;
    const based = await fetch(`${simulator.url}/fault(status=529)${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    expect(based.status).toBe(529);
    const encoded = await fetch(
      `${simulator.url}/fault%28status%3D503%3Bretry-after%3D1%29${path}`,
      {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      },
    );
    expect(encoded.status).toBe(503);
    const google = await fetch(
      `${simulator.url}/v1beta/models/demo-chat+fault(status=503;retry-after=1):generateContent`,
      { method: 'POST', headers: minimal.generateContent.headers, body: '{}' },
    );
    expect(google.status).toBe(503);
  });

  test('leaves the model name in the response clean', async () => {
    const { json } = await ask(simulator, 'chat', { model: 'demo-chat+fault(gap=1)' });
    expect(json.model).toBe('demo-chat');
  });
});

test('a standing fault is an outage that ends on command', async () => {
  simulator.setFault('status=503');
  expect((await ask(simulator, 'chat')).status).toBe(503);
  expect((await ask(simulator, 'messages', {}, fault('status=529'))).status).toBe(529);
  simulator.setFault('');
  expect((await ask(simulator, 'chat')).status).toBe(200);
  expect(() => simulator.setFault('statsu=503')).toThrow(TypeError);
});

test('an unknown fault is refused instead of ignored', async () => {
  const { status, json } = await ask(simulator, 'chat', {}, fault('statsu=500'));
  expect(status).toBe(400);
  expect(json.error.message).toContain("no fault 'statsu=500'");
});

describe('the connection', () => {
  test('refuse: reset before any answer', async () => {
    const response = await askRaw(simulator, 'chat', {}, fault('refuse'));
    expect(response).toMatchObject({ status: null, complete: false });
    expect(simulator.requests()[0]).toMatchObject({ status: null, clientLeft: false });
  });

  test('stall: the head never comes', async () => {
    const response = await askRaw(simulator, 'chat', {}, fault('stall'), 150);
    expect(response.status).toBe(null);
    await expect.poll(() => simulator.aborted()).toBe(1);
  });

  test('close-early: fewer bytes than announced', async () => {
    const response = await askRaw(simulator, 'chat', {}, fault('close-early'));
    expect(response).toMatchObject({ status: 200, complete: false });
    expect(JSON.parse(response.body.toString())).toHaveProperty('choices');
  });

  test('cut-at: destroyed before event k, what preceded arrives', async () => {
    const response = await askRaw(simulator, 'chat', stream, fault('cut-at=3'));
    expect(response).toMatchObject({ status: 200, complete: false });
    expect(eventsOf(response.body.toString())).toHaveLength(3);
    expect(simulator.requests()[0]).toMatchObject({ eventsSent: 3, finished: false });
  });

  test('cut-at=1 cuts a whole body in the middle', async () => {
    const response = await askRaw(simulator, 'messages', {}, fault('cut-at=1'));
    expect(response.complete).toBe(false);
    expect(response.body.length).toBeGreaterThan(100);
  });

  test('close-at: a clean end without terminator', async () => {
    const response = await askRaw(simulator, 'messages', stream, fault('close-at=4'));
    expect(response.complete).toBe(true);
    expect(eventsOf(response.body.toString())).toHaveLength(4);
    expect(response.body.toString()).not.toContain('message_stop');
  });

  test('close-at=1 gives half a JSON body that HTTP calls complete', async () => {
    const response = await askRaw(simulator, 'chat', {}, fault('close-at=1'));
    expect(response.complete).toBe(true);
    expect(() => JSON.parse(response.body.toString()) as unknown).toThrow(SyntaxError);
  });

  test('stall-at: silence before event k', async () => {
    const response = await askRaw(simulator, 'chat', stream, fault('stall-at=2'), 250);
    expect(response.complete).toBe(false);
    expect(eventsOf(response.body.toString())).toHaveLength(2);
    await expect.poll(() => simulator.requests()[0]?.clientLeft).toBe(true);
  });

  test('stall-ms: the silence ends', async () => {
    const response = await askRaw(simulator, 'chat', stream, fault('stall-at=2;stall-ms=200'));
    expect(response.complete).toBe(true);
    expect(response.endAt).toBeGreaterThanOrEqual(195);
    expect(response.body.toString()).toContain('[DONE]');
  });
});

describe('time', () => {
  test('delay: before the head', async () => {
    const response = await askRaw(simulator, 'chat', {}, fault('delay=150'));
    expect(response.headAt).toBeGreaterThanOrEqual(145);
  });

  test.each(['head-delay', 'first-delay'])(
    '%s: the head now, the first event later',
    async (key) => {
      const response = await askRaw(simulator, 'chat', stream, fault(`${key}=200`));
      expect(response.firstAt - response.headAt).toBeGreaterThanOrEqual(150);
    },
  );

  test('gap: between events', async () => {
    const response = await askRaw(simulator, 'chat', stream, fault('gap=20'));
    const pauses = eventsOf(response.body.toString()).length;
    expect(response.chunks.length).toBeGreaterThan(3);
    expect(response.endAt - response.firstAt).toBeGreaterThanOrEqual(pauses * 18);
  });
});

describe('an error inside the stream', () => {
  test.each(protocolNames)('replaces event k of %s and ends it', async (protocol) => {
    const { events } = await askStream(simulator, protocol, {}, fault('error-at=2;status=529'));
    expect(events).toHaveLength(3);
    expect(JSON.stringify(events[2])).toContain(canary);
    expect(JSON.stringify(events.slice(0, 2))).not.toContain('rror":{');
  });

  test('status with after is the same, and a plain status where nothing streams', async () => {
    const asked = fault('status=529;after=3');
    expect((await askStream(simulator, 'chat', {}, asked)).events).toHaveLength(4);
    expect((await ask(simulator, 'chat', {}, asked)).status).toBe(529);
  });

  test('error-first: nothing before it', async () => {
    const { events } = await askStream(simulator, 'messages', {}, fault('error-first;status=529'));
    expect(events).toEqual([
      expect.objectContaining({
        type: 'error',
        error: expect.objectContaining({ type: 'overloaded_error' }),
      }),
    ]);
  });
});

describe('framing', () => {
  test('slice: the same bytes, one at a time', async () => {
    const whole = await askRaw(simulator, 'messages', stream, {});
    const sliced = await askRaw(simulator, 'messages', stream, fault('slice=1'));
    expect(sliced.body.equals(whole.body)).toBe(true);
    expect(sliced.chunks.length).toBeGreaterThan(whole.chunks.length);
  });

  test('slice=random is repeatable by seed and loses nothing', async () => {
    const whole = await askRaw(simulator, 'chat', {}, {});
    const sliced = await askRaw(simulator, 'chat', {}, fault('slice=random;seed=3'));
    expect(sliced.body.equals(whole.body)).toBe(true);
  });

  test('crlf, comments and no-final-blank', async () => {
    const plain = (await askStream(simulator, 'chat')).text;
    const crlf = (await askStream(simulator, 'chat', {}, fault('crlf'))).text;
    expect(crlf).toBe(plain.replaceAll('\n', '\r\n'));
    const commented = (await askStream(simulator, 'chat', {}, fault('comments'))).text;
    expect(commented.replaceAll(': simulator comment\n\n', '')).toBe(plain);
    expect(commented).not.toBe(plain);
    const unfinished = (await askStream(simulator, 'chat', {}, fault('no-final-blank'))).text;
    expect(unfinished).toBe(plain.slice(0, -1));
  });

  test('gzip: although nobody asked', async () => {
    const response = await askRaw(simulator, 'chat', stream, fault('gzip'));
    expect(response.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(response.body).toString()).toContain('data: [DONE]');
    const sliced = await askRaw(simulator, 'chat', {}, fault('gzip;slice=7'));
    expect(JSON.parse(gunzipSync(sliced.body).toString())).toHaveProperty('choices');
  });

  test('no-done: a chat stream without its last frame', async () => {
    const { text } = await askStream(simulator, 'chat', {}, fault('no-done'));
    expect(text).not.toContain('[DONE]');
    expect(text).toContain('"finish_reason":"stop"');
  });
});

describe('another body', () => {
  test('garbage', async () => {
    const first = await askRaw(simulator, 'chat', stream, fault('garbage'));
    const again = await askRaw(simulator, 'chat', stream, fault('garbage'));
    expect(first.status).toBe(200);
    expect(first.headers['content-type']).toContain('text/event-stream');
    expect(first.body.toString()).not.toContain('data:');
    expect(again.body.equals(first.body)).toBe(true);
  });

  test('html, also with a status', async () => {
    const page = await ask(simulator, 'chat', {}, fault('html;status=502'));
    expect(page.status).toBe(502);
    expect(page.headers.get('content-type')).toBe('text/html');
    expect(page.text).toContain(canary);
    expect((await ask(simulator, 'chat', {}, fault('html'))).status).toBe(200);
  });

  test('empty', async () => {
    expect(await ask(simulator, 'messages', {}, fault('empty'))).toMatchObject({
      status: 200,
      text: '',
    });
  });

  test('redirect', async () => {
    const response = await ask(simulator, 'chat', {}, fault('redirect'));
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toMatch(/^https:/);
  });
});

describe('usage', () => {
  const find = (json: Json): Json => json.usage ?? json.usageMetadata;
  const total = (usage: Json): number =>
    usage.completion_tokens ?? usage.output_tokens ?? usage.candidatesTokenCount;

  test.each(protocolNames)('is wrong on demand in %s', async (protocol) => {
    const withUsage = async (kind: string) =>
      find((await ask(simulator, protocol, {}, fault(`usage=${kind}`))).json);
    expect(await withUsage('missing')).toBeUndefined();
    expect(total(await withUsage('zero'))).toBe(0);
    expect(total(await withUsage('absurd'))).toBe(1e15);
    expect(total(await withUsage('negative'))).toBe(-7);
  });

  test('missing in a stream', async () => {
    const options = { stream_options: { include_usage: true } };
    const { text } = await askStream(simulator, 'chat', options, fault('usage=missing'));
    expect(text).not.toContain('prompt_tokens');
    const messages = await askStream(simulator, 'messages', {}, fault('usage=missing'));
    expect(messages.text).not.toContain('usage');
  });
});

describe('size', () => {
  test('events: exactly so many content events', async () => {
    const { events } = await askStream(simulator, 'messages', {}, fault('events=250'));
    const deltas = events.filter((event) => event.type === 'content_block_delta');
    expect(deltas).toHaveLength(250);
    expect(deltas.every((event) => event.delta.text !== '')).toBe(true);
  });

  test('text-bytes: exactly so much text', async () => {
    const { json } = await ask(simulator, 'chat', {}, fault('text-bytes=100000'));
    expect(Buffer.byteLength(json.choices[0].message.content)).toBe(100_000);
  });

  test('big-event: one event larger than any buffer', async () => {
    const { events } = await askStream(simulator, 'chat', {}, fault('big-event=3000000'));
    const sizes = events.map((event) => (event.choices[0]?.delta.content ?? '').length);
    expect(Math.max(...sizes)).toBe(3_000_000);
  });
});
