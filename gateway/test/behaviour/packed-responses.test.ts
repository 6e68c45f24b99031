import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  brotliCompressSync,
  constants,
  createGzip,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import type { TestGateway } from '../support/gateway.ts';
import { ask, describeChannels, rowOf, shareGateway } from './support.ts';
import { textProtocols } from './text-protocols.ts';

/* R-41, S-23: answers that come packed although `identity` was asked for. */

const [chat] = textProtocols;

const shared = shareGateway({});

describe.each(textProtocols)('$name', (protocol) => {
  test.each([true, false])('gzip is decompressed (streamed: %s)', async (stream) => {
    const { gateway } = shared;
    const plain = await ask(gateway, protocol, stream);
    const packed = await ask(gateway, protocol, stream, 'demo-chat', {
      'x-simulator-fault': 'gzip',
    });
    expect(packed.status).toBe(200);
    expect(packed.headers.get('content-encoding')).toBeNull();
    expect(packed.text).toContain('You said');
    if (stream) expect(packed.text).toMatch(protocol.terminator);
    const [row, same] = [await rowOf(gateway, packed.id), await rowOf(gateway, plain.id)];
    expect(row).toMatchObject({ outcome: 'completed', tokens: same.tokens });
  });
});

const response = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'unpacked' }, finish_reason: 'stop' },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  }),
);

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

/** What the upstream answers in the running test. */
let respond: Respond;
const server = createServer((request, response) => {
  response.on('error', () => {});
  request.resume().on('end', () => respond(request, response));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
afterAll(async () => {
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
});

/** A channel for each test: one that answers with a bomb is not asked again soon. */
const channels = Array.from({ length: 20 }, (_, at) => `m${at}`);
const own = shareGateway({
  config: describeChannels(
    channels.map((name) => ({ name, at: `http://127.0.0.1:${port}`, models: [name] })),
  ),
});

/** The gateway, whose upstream answers this, and a model that no other test asks for. */
function openWith(next: Respond): { readonly gateway: TestGateway; readonly model: string } {
  respond = next;
  return { gateway: own.gateway, model: channels.shift()! };
}

function send(encoding: string, body: Buffer, status = 200) {
  return (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-encoding': encoding,
    });
    response.end(body);
  };
}

test.each([
  ['gzip', gzipSync(response)],
  ['x-gzip', gzipSync(response)],
  ['br', brotliCompressSync(response)],
  ['zstd', zstdCompressSync(response)],
  ['identity', response],
])('%s is read', async (encoding, body) => {
  const { gateway, model } = openWith(send(encoding, body));
  const { status, text } = await ask(gateway, chat!, false, model);
  expect({ status, text }).toEqual({ status: 200, text: response.toString() });
});

test.each([
  ['two encodings', 'gzip, gzip', gzipSync(gzipSync(response))],
  ['a thousand encodings', Array(1_000).fill('gzip').join(', '), gzipSync(response)],
  ['an unknown one', 'deflate', deflateSync(response)],
  ['what is not packed', 'gzip', response],
  ['a cut one', 'gzip', gzipSync(response).subarray(0, -12)],
  ['nothing at all', 'gzip', gzipSync('')],
])('%s is an abnormal response', async (_what, encoding, body) => {
  const { gateway, model } = openWith(send(encoding, body));
  const result = await ask(gateway, chat!, false, model);
  expect(result.status).toBe(502);
  expect(await rowOf(gateway, result.id)).toMatchObject({
    outcome: 'failed',
    tokens: { input: 0 },
  });
});

test('a compressed error is still classified by its content', async () => {
  const error = {
    error: { message: 'x', type: 'invalid_request_error', code: 'context_length_exceeded' },
  };
  const { gateway, model } = openWith(send('gzip', gzipSync(JSON.stringify(error)), 400));
  const { status, text } = await ask(gateway, chat!, false, model);
  expect({ status, text }).toMatchObject({
    status: 400,
    text: expect.stringContaining('prompt_too_long'),
  });
});

const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

test.each([
  ['gzip', gzipSync],
  ['br', (bomb: Buffer) => brotliCompressSync(bomb, quickly)],
  ['zstd', zstdCompressSync],
])('a bomb in %s ends the attempt long before it is decompressed', async (encoding, pack) => {
  // 64 MiB of spaces before the response, in a hundred kilobytes at most.
  const bomb = pack(Buffer.alloc(64 * 1024 * 1024, ' '));
  const { gateway, model } = openWith(send(encoding, bomb));
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5);
  const buffered = await ask(gateway, chat!, false, model);
  clearInterval(timer);
  expect(buffered.status).toBe(502);
  expect((most - before) / 2 ** 20).toBeLessThan(100);
  expect((await rowOf(gateway, buffered.id)).attempts).toMatchObject([{ result: 'inflated' }]);
});

test.each([
  ['one event', Buffer.concat([Buffer.from('data: '), Buffer.alloc(64 * 1024 * 1024, 'x')])],
  ['empty events', Buffer.from('data: {}\n\n'.repeat(1024 * 1024))],
])('a stream that is a %s bomb ends the attempt', async (_what, body) => {
  const { gateway, model } = openWith((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
    response.end(gzipSync(body));
  });
  const streamed = await ask(gateway, chat!, true, model);
  expect(streamed.status).toBe(502);
  expect((await rowOf(gateway, streamed.id)).attempts).toMatchObject([{ result: 'inflated' }]);
});

test('a repetitive response is not a bomb', async () => {
  // Each event is packed by itself, as servers do that stream: twenty times its bytes.
  const event = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content: 'again ' }, finish_reason: null }] })}\n\n`;
  const { gateway, model } = openWith((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
    const packer = createGzip({ flush: constants.Z_SYNC_FLUSH });
    packer.pipe(response);
    for (let count = 0; count < 9_000; count += 1) packer.write(event);
    packer.end('data: [DONE]\n\n');
  });
  const { status, text } = await ask(gateway, chat!, true, model);
  expect(status).toBe(200);
  expect(text.length).toBeGreaterThan(2 ** 20);
  expect(text).toMatch(chat!.terminator);
});
