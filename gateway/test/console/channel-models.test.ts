import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

/* The models that an upstream lists: found with the care of a test, and compared with the channel and the catalogue. */

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

let gateway: TestGateway;
let admin: Person;
let upstream: Server;
let origin: string;
let respond: Respond;
const received: IncomingMessage[] = [];

beforeAll(async () => {
  gateway = await startWithPeople();
  admin = await signInAs(gateway, 'admin');
  upstream = createServer((request, response) => {
    received.push(request);
    respond(request, response);
  });
  await new Promise<void>((listening) => void upstream.listen(0, '127.0.0.1', listening));
  origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
});
afterAll(async () => {
  upstream.closeAllConnections();
  upstream.close();
  await gateway.close();
});

const apiKey = 'sk-upstream-0123456789abcdef';

interface Found {
  readonly class: string;
  readonly advice: string;
  readonly words: string | null;
  readonly models: readonly { readonly name: string }[];
  readonly missing: readonly string[];
}

async function find(members: object): Promise<Found> {
  received.length = 0;
  const response = await admin.send('POST', '/channels/models', {
    provider: 'openai-compatible',
    base_url: `${origin}/v1`,
    api_keys: [apiKey],
    ...members,
  });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, expect.not.stringContaining(apiKey)]);
  return JSON.parse(text) as Found;
}

const answers =
  (status: number, body: unknown): Respond =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

test('what is listed is compared, and only what has the form of a name is repeated', async () => {
  const ids = ['demo-chat', 'new-model', 'secrets of an <internal> service', 'demo-chat'];
  respond = answers(200, { data: ids.map((id) => ({ id })) });
  const models = ['demo-reasoning', { name: 'demo-image', upstream: 'new-model' }];
  const found = await find({ models });
  expect(found).toEqual({
    class: 'works',
    advice: '',
    status: 200,
    words: null,
    models: [
      {
        name: 'demo-chat',
        served_as: [],
        others: 1,
        model: 'demo-chat',
        priced: true,
        input: expect.any(String),
        output: expect.any(String),
      },
      {
        name: 'new-model',
        served_as: ['demo-image'],
        others: 0,
        model: null,
        priced: false,
        input: null,
        output: null,
      },
    ],
    missing: ['demo-reasoning'],
  });
  expect(received.map(({ method, url, headers }) => [method, url, headers.authorization])).toEqual([
    ['GET', '/v1/models', `Bearer ${apiKey}`],
  ]);
});

test('a list in pages is read to its end', async () => {
  respond = ({ url = '' }, response) => {
    const isFirst = !url.includes('after_id=claude-a');
    const body = { data: [{ id: isFirst ? 'claude-a' : 'claude-b' }], has_more: isFirst };
    response.end(JSON.stringify({ ...body, last_id: 'claude-a' }));
  };
  const { models } = await find({ provider: 'anthropic' });
  expect(models.map(({ name }) => name)).toEqual(['claude-a', 'claude-b']);
  expect(received[0]?.headers).toMatchObject({
    'x-api-key': apiKey,
    'anthropic-version': '2023-06-01',
  });
});

test.each([
  [
    'credential',
    answers(401, { error: { message: `Wrong key ${apiKey}` } }),
    {},
    'Wrong key [key]',
  ],
  ['form', answers(200, '<html>the page of an internal service</html>'), {}, null],
  ['form', answers(302, ''), {}, null],
  ['cut', answers(200, `{"data":["${'x'.repeat(5_000_000)}"]}`), {}, null],
  ['not-allowed', answers(200, {}), { base_url: 'http://169.254.169.254/v1' }, null],
  ['no-connection', answers(200, {}), { base_url: 'http://127.0.0.1:9/v1' }, null],
  ['no-list', answers(200, {}), { provider: 'ark' }, null],
] as const)('no list: %s', async (className, answer, members, words) => {
  respond = answer;
  const found = await find(members);
  expect(found).toMatchObject({ class: className, words, models: [], missing: [] });
  expect(found.advice).not.toBe('');
});

test('a stored credential is not sent to another address; searches count with the tests', async () => {
  const made = await admin.send('POST', '/channels', {
    name: 'kept',
    provider: 'openai-compatible',
    base_url: `${origin}/v1`,
    api_keys: [apiKey],
    models: ['demo-chat'],
  });
  const { id } = (await made.json()) as { readonly id: string };
  received.length = 0;
  const elsewhere = { id, base_url: `${origin}/v2` };
  const refused = await admin.send('POST', '/channels/models', elsewhere);
  expect([refused.status, received.length]).toEqual([400, 0]);
  const tooMany = await admin.send('POST', '/channels/test', { id });
  expect(tooMany.status).toBe(429);
});
