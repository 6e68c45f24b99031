import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

/* Testing a channel: what works, what fails and where, and that nobody learns what they must not. */

type Respond = (request: IncomingMessage, response: ServerResponse, body: string) => void;

let gateway: TestGateway;
let admin: Person;
let upstream: Server;
let address: string;
let respond: Respond = (_, response) => void response.end();
let received: { readonly headers: IncomingMessage['headers']; readonly body: string } | null = null;

beforeAll(async () => {
  gateway = await startWithPeople();
  admin = await signInAs(gateway, 'admin');
  upstream = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      received = { headers: request.headers, body };
      respond(request, response, body);
    });
  });
  await new Promise<void>((listening) => void upstream.listen(0, '127.0.0.1', listening));
  address = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
});
afterAll(async () => {
  upstream.closeAllConnections();
  upstream.close();
  await gateway.close();
});

const apiKey = 'sk-upstream-0123456789abcdef';

interface Result {
  readonly class: string;
  readonly advice: string;
  readonly steps: readonly {
    readonly step: string;
    readonly ms: number | null;
    readonly ok: boolean;
  }[];
  readonly status: number | null;
  readonly text: string;
  readonly usage: unknown;
  readonly words: string | null;
  readonly request: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  } | null;
  readonly model: string | null;
}

/** One test a person: the rate counts them. */
async function run(members: object, as = admin) {
  const response = await as.send('POST', '/channels/test', {
    provider: 'openai-compatible',
    base_url: address,
    models: [{ name: 'demo-chat', upstream: 'upstream-chat' }],
    api_keys: [apiKey],
    ...members,
  });
  return { status: response.status, text: await response.text() };
}

async function result(members: object = {}, as = admin): Promise<Result> {
  const { status, text } = await run(members, as);
  expect([status, text]).toEqual([200, expect.not.stringContaining(apiKey)]);
  return JSON.parse(text) as Result;
}

const events =
  (...chunks: readonly object[]): Respond =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    response.end('data: [DONE]\n\n');
  };
const chunk = (delta: object, finish: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'upstream-chat',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const counted = {
  ...chunk({}),
  choices: [],
  usage: { prompt_tokens: 20, completion_tokens: 1, total_tokens: 21 },
};
const works = events(chunk({ role: 'assistant', content: 'OK' }), chunk({}, 'stop'), counted);
const refuses =
  (status: number, body: unknown): Respond =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

test('a channel that works shows each step, what the model said, and what it used', async () => {
  respond = works;
  const rows = async () => (await gateway.usage(1_000)).length;
  const before = await rows();
  const secret = 'tenant-secret-0123456789';
  const found = await result({ headers: { 'x-tenant': secret } });
  expect(found).toMatchObject({
    class: 'works',
    advice: '',
    status: 200,
    text: 'OK',
    model: 'demo-chat',
    usage: { input: 20, output: 1 },
  });
  expect(found.steps.map(({ step, ok }) => [step, ok])).toEqual(
    ['resolve', 'connect', 'status', 'first_token', 'end'].map((step) => [step, true]),
  );
  expect(received?.headers).toMatchObject({
    authorization: `Bearer ${apiKey}`,
    'x-tenant': secret,
  });
  // What was sent is shown, without secrets.
  expect(found.request).toMatchObject({
    method: 'POST',
    url: `${address}/chat/completions`,
    headers: { authorization: 'Bearer …', 'x-tenant': '…' },
    body: received?.body,
  });
  expect(JSON.parse(received?.body ?? '')).toMatchObject({
    model: 'upstream-chat',
    stream: true,
    tools: [{ type: 'function' }],
  });
  expect(await rows()).toBe(before);
});

test.each([
  ['credential', refuses(401, { error: { message: `Incorrect API key: ${apiKey}` } }), 401],
  ['unknown', refuses(404, { error: { message: 'The model does not exist' } }), 404],
  ['limited', refuses(429, { error: { message: 'Slow down' } }), 429],
  ['funds', refuses(402, { error: { message: 'Top up' } }), 402],
  ['form', refuses(200, '<html>the secret page of an internal service</html>'), 200],
  // The attempt of a response that was not read has no status.
  ['form', refuses(200, { page: 'the secret page of an internal service' }), null],
  ['upstream', refuses(500, 'root:x:0:0:the secret file'), 500],
] as const)('a channel fails as %s', async (className, answer, status) => {
  respond = answer;
  const person = await signInAs(gateway, 'admin');
  const found = await result({}, person);
  expect([found.class, found.status]).toEqual([className, status]);
  expect(found.advice).not.toBe('');
  expect(found.text).not.toMatch(/secret/);
  // In a known form, they are the upstream's own words.
  expect(found.words === null).toBe(className === 'form' || className === 'upstream');
  if (className === 'credential') expect(found.words).toBe('Incorrect API key: [key]');
  expect(found.steps.find(({ step }) => step === 'status')?.ok).toBe(true);
});

test('nothing is sent to the local link', async () => {
  const base_url = 'http://169.254.169.254/latest';
  // Also before a model is in the list: the one that is asked needs no other mention.
  const draft = { base_url, models: undefined, model: 'anything' };
  expect(await result(draft)).toMatchObject({ class: 'not-allowed', status: null });
});

test('an upstream that says nothing takes too long', async () => {
  respond = () => {};
  expect(await result({ timeouts: { first_byte: '1s' } })).toMatchObject({
    class: 'time',
    status: null,
  });
});

test('nobody listens, or the connection is closed without a response', async () => {
  // The first one's ten tests of this minute are spent.
  const other = await signInAs(gateway, 'administrator');
  const refused = await result({ base_url: 'http://127.0.0.1:9/v1' }, other);
  expect(refused).toMatchObject({ class: 'no-connection', status: null });
  // The name is the proxy's to resolve, and nobody is there.
  const proxied = { base_url: 'http://models.invalid/v1', proxy: 'http://127.0.0.1:9' };
  expect(await result(proxied, other)).toMatchObject({ class: 'no-connection', status: null });
  respond = ({ socket }) => void socket.destroy();
  expect(await result({}, other)).toMatchObject({ class: 'closed', status: null });
});

test('ten tests a minute are allowed, and each is on record', async () => {
  const { status, text } = await run({});
  expect([status, text]).toEqual([429, expect.stringContaining('ten tests a minute')]);
  const { kysely } = gateway.app.database;
  const lines = await kysely
    .selectFrom('audit_log')
    .selectAll()
    .where('action', '=', 'channel.test')
    .execute();
  expect(lines).toHaveLength(13);
  expect(JSON.stringify(lines)).not.toContain(apiKey);
});
