import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { testKey, type TestGateway } from '../support/gateway.ts';
import { openGateway, rowsAfterStop, sendRaw, until, type RawClient } from './support.ts';

/*
 * Requests with pictures are read as they arrive, and kept in memory while there is room, then in files without names,
 * until an upstream has responded.
 */

const mebibyte = 2 ** 20;
const generations = '/v1/images/generations';
const edits = '/v1/images/edits';

interface Received {
  readonly path: string;
  readonly length: string | undefined;
  readonly digest: string;
}

/** What the upstream got whole, and how many requests it got in all. */
let received: Received[] = [];
let begun = 0;
type Answer = (response: ServerResponse) => void;
const image = '{"created":1,"data":[{"b64_json":"AAAA","size":"512x512"}]}';
const good: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(image);
};
let answers: Answer[] = [];

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  begun += 1;
  const body = await buffer(request);
  const { 'content-length': length } = request.headers;
  received.push({ path: request.url ?? '', length, digest: digestOf(body) });
  (answers.shift() ?? good)(response);
}

const upstream = createServer((request, response) => {
  // A request that is cut is counted, and has no other effect.
  serve(request, response).catch(() => undefined);
});
await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
afterAll(() => upstream.close());
beforeEach(() => {
  received = [];
  begun = 0;
  answers = [];
});

const digestOf = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

const open = (limits: string) =>
  openGateway({
    config: `
limits: ${limits}
channels:
  - { name: one, provider: openai-compatible, base_url: "${url}", api_key: x, protocols: [images], models: [mine, { name: mapped, upstream: theirs }] }
  - { name: two, provider: openai-compatible, base_url: "${url}", api_key: y, protocols: [images], models: [mine] }
  - { name: ark, provider: ark, base_url: "${url}", api_key: z, models: [references] }
models:
${['mine', 'mapped', 'references'].map((id) => `  - { id: ${id}, type: image, capabilities: [edits, multi_reference, streaming], price: { image_tiers: [{ name: 1K, max_pixels: 2000000, price: 0.04 }] } }`).join('\n')}
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey} }]
`,
  });

const png = Buffer.from('89504e470d0a1a0a', 'hex');
/** Random, so that it does not look like a bomb when it is compressed. */
const pixels = randomBytes(52 * mebibyte);
const imageOf = (bytes: number) => Buffer.concat([png, pixels.subarray(0, bytes)]);

function formOf(bytes: number, model = 'mine', more = ''): Buffer {
  const field = (name: string, value: string) =>
    `--upload-boundary\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  return Buffer.concat([
    Buffer.from(field('prompt', 'a hat') + more),
    Buffer.from(
      '--upload-boundary\r\ncontent-disposition: form-data; name="image"; filename="a.png"\r\ncontent-type: image/png\r\n\r\n',
    ),
    imageOf(bytes),
    Buffer.from(`\r\n${field('model', model)}--upload-boundary--\r\n`),
  ]);
}

const jsonOf = (bytes: number, model = 'mine'): Buffer =>
  Buffer.from(
    JSON.stringify({
      prompt: 'a hat',
      image: `data:image/png;base64,${imageOf(bytes).toString('base64')}`,
      model,
    }),
  );

const formType = 'multipart/form-data; boundary=upload-boundary';
const jsonType = 'application/json';

const post = (
  gateway: TestGateway,
  path: string,
  type: string,
  body: Buffer | ReadableStream,
  headers: Record<string, string> = {},
) =>
  fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': type, ...headers },
    body,
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  });

function streamOf(bytes: Buffer): ReadableStream {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.subarray(at, (at += 100_000)));
    },
  });
}

/** Files of the spool that this process has open. */
const spooled = (gateway: TestGateway): number =>
  readdirSync('/proc/self/fd').filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`).startsWith(`${gateway.app.dataDir}/spool/`);
    } catch {
      return false;
    }
  }).length;

describe.each([
  ['in memory', '{ body_memory: 1GiB }'],
  // A quarter of it is less than one request.
  ['in a file', '{ body_memory: 12MiB }'],
])('a request that is kept %s', (_, limits) => {
  test.each([
    ['a form', edits, formType, formOf],
    ['JSON', generations, jsonType, jsonOf],
    ['an edit in JSON', edits, jsonType, jsonOf],
  ])('arrives unchanged: %s', async (__, path, type, bodyOf) => {
    const gateway = await open(limits);
    const body = bodyOf(4 * mebibyte);
    // A machine that is busy with other tests may refuse a request as too slow: then nothing was sent.
    const accepted = async (bytes: () => Buffer | ReadableStream, headers = {}) => {
      let response = await post(gateway, path, type, bytes(), headers);
      for (let tries = 0; response.status === 503 && tries < 5; tries += 1) {
        response = await post(gateway, path, type, bytes(), headers);
      }
      expect(response.status).toBe(200);
    };
    await accepted(() => body);
    await accepted(() => streamOf(body));
    const packed = gzipSync(body);
    await accepted(() => packed, { 'content-encoding': 'gzip' });
    const mapped = bodyOf(4 * mebibyte, 'mapped');
    await accepted(() => mapped);
    const same = {
      path: `/v1${path.slice(3)}`,
      length: String(body.length),
      digest: digestOf(body),
    };
    const patched = bodyOf(4 * mebibyte, 'theirs');
    expect(received).toEqual([
      same,
      same,
      same,
      { ...same, length: String(patched.length), digest: digestOf(patched) },
    ]);
    expect(spooled(gateway)).toBe(0);
    expect(readdirSync(`${gateway.app.dataDir}/spool`)).toEqual([]);
  });

  test('is sent whole again after a refusal', async () => {
    const gateway = await open(limits);
    answers = [(response) => response.writeHead(503).end('{}')];
    const body = formOf(4 * mebibyte);
    expect((await post(gateway, edits, formType, body)).status).toBe(200);
    expect(received.map(({ digest }) => digest)).toEqual([digestOf(body), digestOf(body)]);
  });

  test('is released once the upstream responds', async () => {
    const gateway = await open(limits);
    const held = Promise.withResolvers<ServerResponse>();
    answers = [
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
        held.resolve(response);
      },
    ];
    const stream =
      '--upload-boundary\r\ncontent-disposition: form-data; name="stream"\r\n\r\ntrue\r\n';
    const asked = post(gateway, edits, formType, formOf(4 * mebibyte, 'mine', stream));
    const response = await held.promise;
    await until(() => spooled(gateway) === 0, 'the request is released');
    response.end(
      'data: {"type":"image_edit.completed","b64_json":"AAAA","size":"512x512"}\n\ndata: [DONE]\n\n',
    );
    expect(await (await asked).text()).toContain('[DONE]');
  });

  test('becomes a generation where there are no edits', async () => {
    const gateway = await open(limits);
    const body = formOf(2 * mebibyte, 'references');
    const { status } = await post(gateway, edits, formType, body);
    expect(status).toBe(200);
    const image = `data:image/png;base64,${imageOf(2 * mebibyte).toString('base64')}`;
    const expected = JSON.stringify({ model: 'references', prompt: 'a hat', image });
    expect(received.map(({ path, digest }) => [path, digest])).toEqual([
      ['/v1/images/generations', digestOf(expected)],
    ]);
  });
});

test('without room in the spool it is refused, and nothing is sent or held', async () => {
  const gateway = await open('{ body_memory: 16MiB, spool: 20MiB }');
  const large = await post(gateway, edits, formType, formOf(24 * mebibyte));
  expect(large.status).toBe(503);
  const streamed = await post(gateway, edits, formType, streamOf(formOf(24 * mebibyte)));
  expect(streamed.status).toBe(503);
  // Room for the request, but not for its picture besides.
  expect((await post(gateway, edits, formType, formOf(5 * mebibyte))).status).toBe(503);
  expect(begun).toBe(0);
  expect((await post(gateway, edits, formType, formOf(2 * mebibyte))).status).toBe(200);
  expect(spooled(gateway)).toBe(0);
});

test('what is wrong with it is said, and nothing is sent', async () => {
  const gateway = await open('{ body_memory: 16MiB }');
  const body = formOf(2 * mebibyte);
  const refusals: readonly (readonly [string, string, Buffer, number, string])[] = [
    [edits, formType, body.subarray(0, -20), 400, 'the form is truncated'],
    [edits, 'multipart/form-data', body, 400, 'the content type has no boundary'],
    [edits, formType, Buffer.concat([body, body]), 400, 'followed by other text'],
    [edits, formType, formOf(51 * mebibyte), 400, 'image must have at most 50 MB'],
    [generations, jsonType, jsonOf(2 * mebibyte).subarray(0, -9), 400, 'invalid'],
    [generations, jsonType, Buffer.from(`[${'0,'.repeat(mebibyte)}0]`), 400, 'complex'],
    [generations, jsonType, jsonOf(2 * mebibyte, 'unknown'), 400, 'unknown'],
  ];
  for (const [path, type, bytes, status, words] of refusals) {
    const response = await post(gateway, path, type, bytes);
    expect([response.status, await response.text()]).toEqual([
      status,
      expect.stringContaining(words),
    ]);
  }
  expect([begun, spooled(gateway)]).toEqual([0, 0]);
});

describe('a client that leaves', () => {
  const head = (length: number) =>
    `POST ${edits} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testKey}\r\ncontent-type: ${formType}\r\ncontent-length: ${length}\r\n\r\n`;
  const body = formOf(24 * mebibyte);
  const inFlight = async (gateway: TestGateway): Promise<string> => {
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    return /^sluice_body_memory_bytes (\d+)/m.exec(metrics)?.[1] ?? '';
  };
  const begin = async (gateway: TestGateway, bytes: number): Promise<RawClient> => {
    const client = await sendRaw(gateway.url, head(body.length));
    client.socket.write(body.subarray(0, bytes));
    return client;
  };

  test.each([
    ['before any of its body', 0, 0],
    ['in the headers of a part', 110, 0],
    ['within a picture', 12 * mebibyte, 1],
    ['just before the end', body.length - 1, 1],
  ])('%s has sent nothing, and nothing is kept', async (_, bytes, files) => {
    const gateway = await open('{ body_memory: 32MiB }');
    const client = await begin(gateway, bytes);
    await until(async () => (await inFlight(gateway)) !== '0', 'the body is read');
    await until(() => spooled(gateway) === files, 'the body is in a file');
    client.socket.destroy();
    await until(() => spooled(gateway) === 0, 'the file is gone');
    await until(async () => (await inFlight(gateway)) === '0', 'the memory is given back');
    expect(begun).toBe(0);
    expect(await rowsAfterStop(gateway)).toEqual([]);
  });

  test('after the end is charged for what is made', async () => {
    const gateway = await open('{ body_memory: 32MiB }');
    const held = Promise.withResolvers<ServerResponse>();
    answers = [held.resolve];
    const client = await begin(gateway, body.length);
    const response = await held.promise;
    // It may have to be sent again.
    expect(spooled(gateway)).toBe(1);
    client.socket.destroy();
    good(response);
    await until(async () => (await gateway.usage()).length === 1, 'a row');
    expect((await gateway.usage()).map(({ cost }) => cost)).toEqual(['0.04']);
    expect(spooled(gateway)).toBe(0);
  });
});
