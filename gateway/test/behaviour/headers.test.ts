import { describe, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { describeChannels, openGateway, openTcpServer, shareGateway } from './support.ts';
import { textProtocols } from './text-protocols.ts';

const shared = shareGateway({
  config: describeChannels([
    {
      name: 'sim',
      models: ['demo-chat'],
      more: ['api_key: upstream-credential', 'headers: { x-channel: own }'],
    },
  ]),
});

/** Everything that says who the client is or how it came here. */
const personal = {
  cookie: 'session=client-secret',
  'x-forwarded-for': '203.0.113.7',
  'x-forwarded-proto': 'https',
  'x-real-ip': '203.0.113.7',
  forwarded: 'for=203.0.113.7',
  via: '1.1 proxy',
  'proxy-authorization': 'Basic client-secret',
  'x-request-id': 'client-request-id',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  'openai-organization': 'org-client',
  'openai-project': 'proj-client',
  'x-unknown': 'anything',
  referer: 'https://client.example',
  origin: 'https://client.example',
  te: 'trailers',
};

const allowed = new Set([
  'host',
  'connection',
  'content-type',
  'content-length',
  'accept',
  'accept-encoding',
  'user-agent',
  'anthropic-version',
  'anthropic-beta',
  'openai-beta',
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'x-channel',
]);

describe.each(textProtocols)('S-26 $name: headers of the client', (protocol) => {
  test.each(['authorization', 'x-api-key', 'x-goog-api-key'])(
    'headers of the client stay behind (key in %s)',
    async (carrier) => {
      const { gateway } = shared;
      gateway.simulator.clear();
      const response = await fetch(gateway.url + protocol.path('demo-chat', true), {
        method: 'POST',
        headers: {
          ...personal,
          'content-type': 'application/json',
          [carrier]: carrier === 'authorization' ? `Bearer ${testKey}` : testKey,
          'anthropic-beta': 'beta-1',
          'openai-beta': 'responses=v1',
        },
        body: JSON.stringify(protocol.body('demo-chat', true)),
      });
      expect(response.status).toBe(200);
      await response.text();
      const [request] = gateway.simulator.requests();
      const headers = request?.headers ?? [];
      expect(headers.map(([name]) => name).filter((name) => !allowed.has(name))).toEqual([]);
      const dump = JSON.stringify(request);
      expect(dump).not.toContain(testKey);
      expect(dump).not.toMatch(
        /client-secret|203\.0\.113|client-request-id|org-client|client\.example/,
      );
      expect(dump).toContain('upstream-credential');
      expect(new Map(headers).get('anthropic-beta')).toBe('beta-1');
      expect(new Map(headers).get('x-channel')).toBe('own');
    },
  );
});

test.each([
  ':generateContent?',
  ':streamGenerateContent?alt=sse&',
  ':streamGenerateContent?',
  ':countTokens?',
])('S-02 S-26 ?key= of the path is not passed on: %s', async (call) => {
  const { gateway } = shared;
  gateway.simulator.clear();
  const response = await fetch(`${gateway.url}/v1beta/models/demo-chat${call}key=${testKey}`, {
    method: 'POST',
    headers: { ...personal, 'content-type': 'application/json' },
    body: JSON.stringify(textProtocols[3]!.body('demo-chat', false)),
  });
  expect(response.status).toBe(200);
  await response.text();
  const [request, ...more] = gateway.simulator.requests();
  expect(more).toEqual([]);
  expect(request?.headers.map(([name]) => name).filter((name) => !allowed.has(name))).toEqual([]);
  expect(JSON.stringify(request)).not.toMatch(
    new RegExp(`${testKey}|client-secret|203\\.0\\.113|client-request-id`),
  );
  // Ours is no parameter there either.
  expect(request?.path).not.toContain('key=');
});

const completion = JSON.stringify({
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
});
const stream =
  'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

describe.each([false, true])(
  'S-26 the upstream’s headers stay behind (streamed: %s)',
  (streamed) => {
    test('set-cookie, organisation, request ids and server names stay behind', async () => {
      const body = streamed ? stream : completion;
      const url = await openTcpServer((socket) => {
        socket.on('data', () => {
          socket.write(
            [
              'HTTP/1.1 200 OK',
              `content-type: ${streamed ? 'text/event-stream' : 'application/json'}`,
              `content-length: ${body.length}`,
              'set-cookie: upstream=1',
              'openai-organization: org-upstream',
              'x-request-id: upstream-request',
              'request-id: upstream-request',
              'server: upstream-server',
              'cf-ray: upstream-ray',
              'x-ratelimit-remaining-tokens: 7',
              'access-control-allow-origin: upstream',
              'location: http://upstream',
              '',
              body,
            ].join('\r\n'),
          );
        });
      });
      const gateway = await openGateway({
        config: `
channels:
  - { name: up, provider: openai, base_url: "${url}/v1", api_key: k, protocols: [chat], models: [demo-chat] }
`,
      });
      const response = await gateway.post('/v1/chat/completions', {
        model: 'demo-chat',
        stream: streamed,
        messages: [{ role: 'user', content: 'x' }],
      });
      const all = JSON.stringify([...response.headers]);
      expect(response.status).toBe(200);
      expect(all).not.toMatch(/upstream|set-cookie|ratelimit|cf-ray|server/);
      expect(response.headers.get('x-request-id')).toMatch(/^req_.{24}$/);
      await response.text();
      // For talking to the upstream's support it is in the row.
      expect((await gateway.usage())[0]?.attempts).toMatchObject([
        { upstream_request_id: 'upstream-request' },
      ]);
    });
  },
);

test('x-sluice-rewrites names the rewrites and is absent without any', async () => {
  const { gateway } = shared;
  const ask = async (body: object) => {
    const response = await gateway.post('/v1/messages', body);
    await response.text();
    return response.headers.get('x-sluice-rewrites');
  };
  const messages = [{ role: 'user', content: 'hello' }];
  expect(await ask({ model: 'demo-chat', messages })).toBe('b2');
  expect(await ask({ model: 'demo-chat', messages, stream: true })).toBe('b2');
  expect(await ask({ model: 'demo-chat', messages, max_tokens: 100 })).toBeNull();
});
