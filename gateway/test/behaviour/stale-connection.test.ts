import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { ask, attemptsOf, jumpingClock, rowOf } from './support.ts';
import { textProtocols } from './text-protocols.ts';

const chat = textProtocols[0]!;
const completion = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'You said' }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 2, completion_tokens: 21, total_tokens: 23 },
});
const whole = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${completion.length}\r\n\r\n${completion}`;
const chunk = `data: {"choices":[{"index":0,"delta":{"content":"You said"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;
const streamed = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${chunk.length}\r\n\r\n${chunk}`;

const close = {
  end: (socket: Socket) => void socket.end(),
  reset: (socket: Socket) => void socket.resetAndDestroy(),
};

/** An upstream of one test, with a channel and a model of its own on the gateway of all. */
interface Place {
  readonly server: Server;
  readonly sockets: Set<Socket>;
  readonly model: string;
  onConnection: (socket: Socket) => void;
}

let gateway: TestGateway;
const places: Place[] = [];
let taken = 0;

beforeAll(async () => {
  for (let at = 0; at < 24; at += 1) {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      place.onConnection(socket);
    });
    const place: Place = { server, sockets, model: `m${at}`, onConnection: () => {} };
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    places.push(place);
  }
  const channel = ({ server, model }: Place) =>
    `  - { name: ${model}, provider: openai-compatible, base_url: "http://127.0.0.1:${(server.address() as AddressInfo).port}/v1", api_key: k, protocols: [chat], models: [${model}], timeouts: { first_byte: ${firstByte[model] ?? '30s'} } }`;
  gateway = await startTestGateway({
    config: `
channels:
${places.map(channel).join('\n')}
models:
${places.map(({ model }) => `  - { id: ${model}, type: chat, price: { input: 1, output: 2 } }`).join('\n')}
`,
  });
});
afterAll(async () => {
  await gateway.close();
  for (const { server, sockets } of places) {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
  const [first] = gateway.errors;
  if (first !== undefined) throw new Error('the gateway logged an error', { cause: first });
});

/** Two of them are waited for no longer than a moment. */
const firstByte: Readonly<Record<string, string>> = { m0: '300ms', m1: '300ms' };
const impatient = { reused: 0, large: 1 };

/** @param at one of the impatient; default: the next that is patient. */
function takePlace(onConnection: (socket: Socket) => void, at?: number): string {
  const place = places[at ?? 2 + taken];
  if (at === undefined) taken += 1;
  if (place === undefined) throw new Error('no upstream is left');
  place.onConnection = onConnection;
  return place.model;
}

/** An upstream that answers once per connection and forgets it the moment a second request comes. */
function openForgetfulUpstream(
  forget: (socket: Socket) => void,
  responses = Number.POSITIVE_INFINITY,
) {
  let requests = 0;
  let connections = 0;
  const model = takePlace((socket) => {
    connections += 1;
    let served = 0;
    let text = '';
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
      if (!text.endsWith('}')) return;
      const asked = text;
      text = '';
      requests += 1;
      served += 1;
      if (served === 1 && connections <= responses) {
        socket.write(asked.includes('"stream":true') ? streamed : whole);
      } else forget(socket);
    });
  });
  return { model, requests: () => requests, connections: () => connections };
}

describe.each(['end', 'reset'] as const)(
  'R-38 the upstream closes an idle connection (%s)',
  (way) => {
    test.each([
      [false, 5],
      [true, 5],
      [false, 100_000],
      [true, 100_000],
    ])(
      'a request on a stale connection is sent once more (streamed: %s, of %d letters)',
      async (stream, length) => {
        const upstream = openForgetfulUpstream(close[way]);
        const text = 'x'.repeat(length);
        expect((await ask(gateway, chat, stream, upstream.model, {}, text)).status).toBe(200);
        const second = await ask(gateway, chat, stream, upstream.model, {}, text);
        expect(second.status).toBe(200);
        expect({ requests: upstream.requests(), connections: upstream.connections() }).toEqual({
          requests: 3,
          connections: 2,
        });
        const row = await rowOf(gateway, second.id);
        expect(row.outcome).toBe('completed');
        expect(attemptsOf(row)).toMatchObject([
          { channel: upstream.model, class: 'uncertain', status: null },
          { channel: upstream.model, class: 'shown', status: 200, result: 'completed' },
        ]);
      },
    );

    test('a request is sent only once more: a new connection that is closed too is a failure', async () => {
      const upstream = openForgetfulUpstream(close[way], 1);
      expect((await ask(gateway, chat, false, upstream.model)).status).toBe(200);
      expect((await ask(gateway, chat, false, upstream.model)).status).toBe(502);
      expect(upstream.requests()).toBe(3);
    });
  },
);

test.each([
  ['a part of a head', 'HTTP/1.1 200 OK\r\ncontent-ty'],
  ['an interim response', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
])(
  'R-38 a connection that is closed after %s had begun with the request is not stale',
  async (_what, bytes) => {
    const upstream = openForgetfulUpstream((socket) => socket.end(bytes));
    expect((await ask(gateway, chat, false, upstream.model)).status).toBe(200);
    expect((await ask(gateway, chat, false, upstream.model)).status).toBe(502);
    expect(upstream.requests()).toBe(2);
  },
);

test.each(['end', 'reset'] as const)(
  'R-38 a connection that is closed (%s) long after the request was sent is not stale',
  async (way) => {
    const jump = jumpingClock();
    const upstream = openForgetfulUpstream((socket) => {
      jump(2_000);
      close[way](socket);
    });
    expect((await ask(gateway, chat, false, upstream.model)).status).toBe(200);
    const second = await ask(gateway, chat, false, upstream.model);
    expect(second.status).toBe(502);
    expect(upstream.requests()).toBe(2);
    expect(attemptsOf(await rowOf(gateway, second.id))).toMatchObject([{ class: 'uncertain' }]);
  },
);

test.each([5, 100_000])(
  'R-38 a request on a new connection that is reset is not retried (%d letters)',
  async (length) => {
    const upstream = openForgetfulUpstream(close.reset, 0);
    const response = await ask(gateway, chat, false, upstream.model, {}, 'x'.repeat(length));
    expect(response.status).toBe(502);
    expect(upstream.requests()).toBe(1);
  },
);

test('an upstream that responds before it has received the whole request is heard', async () => {
  const refusal = JSON.stringify({ error: { message: 'too long', type: 'x', code: null } });
  const model = takePlace((socket) => {
    socket.once('data', () => {
      socket.pause();
      socket.end(
        `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: ${refusal.length}\r\nconnection: close\r\n\r\n${refusal}`,
      );
    });
  });
  const response = await ask(gateway, chat, true, model, {}, 'x'.repeat(10_000_000));
  expect(response.status).toBe(400);
  expect(attemptsOf(await rowOf(gateway, response.id))).toMatchObject([{ status: 400 }]);
});

test('R-38 R-04 a time-out on a reused connection is not stale: nothing is sent again', async () => {
  let requests = 0;
  const model = takePlace((socket) => {
    socket.on('data', () => {
      requests += 1;
      if (requests === 1) socket.write(whole);
    });
  }, impatient.reused);
  expect((await ask(gateway, chat, false, model)).status).toBe(200);
  const second = await ask(gateway, chat, false, model);
  expect(second.status).toBe(502);
  expect(requests).toBe(2);
  expect(attemptsOf(await rowOf(gateway, second.id))).toMatchObject([
    { class: 'uncertain', result: 'first-byte-timeout' },
  ]);
});

test('R-04 an upstream that does not accept a large request is given up in time', async () => {
  const model = takePlace((socket) => void socket.pause(), impatient.large);
  const response = await ask(gateway, chat, true, model, {}, 'x'.repeat(20_000_000));
  expect(response.status).toBe(502);
  expect(attemptsOf(await rowOf(gateway, response.id))).toMatchObject([
    { class: 'uncertain', result: 'first-byte-timeout' },
  ]);
});
