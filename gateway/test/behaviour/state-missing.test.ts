import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startOwnUpstream, type OwnUpstream } from '../support/own-upstream.ts';
import { accounts, answerAnything, ask, channelAt } from './state-gateway.ts';

/*
 * Ids that the gateway never saw pass, but the upstream may not have them: they expired, belong to another account, or
 * were never stored. Vendors refuse such ids with the same statuses as unknown models.
 */

let first: OwnUpstream;
let second: OwnUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  [first, second] = await Promise.all([startOwnUpstream(), startOwnUpstream()]);
  const channels = [
    channelAt(first.url, 'first', 'priority: 1'),
    channelAt(second.url, 'second'),
  ].join('');
  gateway = await startTestGateway({ config: `channels:${channels}${accounts}` });
});
afterAll(() => Promise.all([gateway.close(), first.close(), second.close()]));
beforeEach(() => {
  for (const upstream of [first, second]) {
    upstream.clear();
    upstream.answer = answerAnything;
  }
});

const refuse = (upstream: OwnUpstream, status: number, error: object): void => {
  upstream.answer = (one, response) => {
    if (!JSON.stringify(one.body).includes('_gone')) return answerAnything(one, response);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error }));
  };
};

const words = [{ role: 'user', content: 'hello' }];
const cases = [
  {
    name: 'an item',
    status: 404,
    error: { message: "Item with id 'rs_gone' not found.", type: 'invalid_request_error' },
    path: '/v1/responses',
    body: { model: 'demo-chat', input: [{ type: 'item_reference', id: 'rs_gone' }, ...words] },
    innocent: { model: 'demo-chat', input: 'hello' },
  },
  {
    name: 'a file of the Messages protocol',
    status: 404,
    error: { message: 'File not found: file_gone', type: 'not_found_error' },
    path: '/v1/messages',
    body: {
      model: 'demo-chat',
      max_tokens: 9,
      messages: [
        {
          role: 'user',
          content: [{ type: 'document', source: { type: 'file', file_id: 'file_gone' } }],
        },
      ],
    },
    innocent: { model: 'demo-chat', max_tokens: 9, messages: words },
  },
  {
    name: 'a cache',
    status: 403,
    error: { code: 403, message: 'CachedContent not found', status: 'PERMISSION_DENIED' },
    path: '/v1beta/models/demo-chat:generateContent',
    body: { contents: [{ parts: [{ text: 'hello' }] }], cachedContent: 'cachedContents/x_gone' },
    innocent: { contents: [{ parts: [{ text: 'hello' }] }] },
  },
];

describe.each(cases)('$name that the upstream refuses with $status', (one) => {
  const { status, error, path, body, innocent } = one;

  test('is reported as not found, without resting the model', async () => {
    refuse(first, status, error);
    refuse(second, status, error);
    const reply = await ask(gateway, 'bob', path, body);
    expect([reply.status, reply.text]).toEqual([
      404,
      expect.stringContaining('not found: it does not exist'),
    ]);
    expect(reply.text).not.toContain('gone');
    expect(reply.headers.get('x-should-retry')).toBe('false');
    // Another channel may have it: another account.
    expect([first.asked.length, second.asked.length]).toEqual([1, 1]);
    // Other callers keep using the channel.
    const other = await ask(gateway, 'alice', path, innocent);
    expect([other.status, first.asked.length, second.asked.length]).toEqual([200, 2, 1]);
  });

  test('is answered by the channel that has it', async () => {
    refuse(first, status, error);
    expect((await ask(gateway, 'bob', path, body)).status).toBe(200);
    expect([first.asked.length, second.asked.length]).toEqual([1, 1]);
  });
});

test('a response that the upstream does not have is not found, with 400 and with 404', async () => {
  for (const status of [400, 404]) {
    const error = { message: 'gone', code: 'previous_response_not_found' };
    refuse(first, status, { ...error, type: 'invalid_request_error' });
    const body = { model: 'demo-chat', input: 'hello', previous_response_id: 'resp_gone' };
    const reply = await ask(gateway, 'bob', '/v1/responses', body);
    expect(reply.status).toBe(404);
    expect(reply.json['error']).toMatchObject({
      code: 'previous_response_not_found',
      param: 'previous_response_id',
    });
  }
});
