import { describe, expect, test } from 'vitest';
import { ask, only, rowOf } from '../behaviour/support.ts';
import { eachCall, textProtocols, type TextProtocol } from '../behaviour/text-protocols.ts';
import { testKey } from '../support/gateway.ts';
import { answeredWords, answerWith, usageAt } from '../support/own-upstream.ts';
import {
  assertBilledExactly,
  ownChannel,
  payer,
  shareBilledGateway,
  simulatorChannel,
} from './billed-gateway.ts';
import { nanoOf } from './books.ts';

/* No way to an upstream's whole response without its charge, and none to a model that was not authorised and priced. */

const baseOnly = 'sk-base-only-0123456789abcdefghijklmnopqrstuv';
const aliasOnly = 'sk-alias-only-0123456789abcdefghijklmnopqrs';

const shared = shareBilledGateway({
  balance: 1_000,
  channels: `
${simulatorChannel({ name: 'sim', model: 'cheap' })}
  - { name: own, provider: openai-compatible, base_url: "UPSTREAM", api_key: upstream-key, protocols: [chat], models: [own] }
${ownChannel({ name: 'own-all', model: 'all' })}
${ownChannel({ name: 'spoilt', model: 'spoilt' })}
  - { name: own-messages, provider: simulator, base_url: "UPSTREAM", protocols: [messages], models: [from-messages] }
${simulatorChannel({ name: 'vip', model: 'dear', more: 'groups: [vip]' })}
`,
  models: ['cheap', 'own', 'all', 'spoilt', 'from-messages'],
  moreModels:
    '  - { id: dear, type: chat, max_output_tokens: 1000, price: { input: 900000, output: 900000 } }',
  settings: `
groups: [{ name: vip }]
aliases: { other-name: cheap }
`,
  moreUsers: '  - { email: limited@example.com, balance: 1000 }',
  moreKeys: `
  - { name: base-only, user: limited@example.com, secret: ${baseOnly}, models: [cheap] }
  - { name: alias-only, user: limited@example.com, secret: ${aliasOnly}, models: [other-name] }
`,
});

const asked = (): number =>
  shared.gateway.simulator.requests().length + shared.upstream.asked.length;

function clear(): void {
  shared.gateway.simulator.clear();
  shared.upstream.clear();
}

describe.each(eachCall)('$name', ({ protocol, stream }) => {
  test('every complete response is charged, converted or not', async () => {
    for (const model of ['cheap', 'other-name', 'all', 'own', 'from-messages']) {
      shared.upstream.answer = (request, response) =>
        answerWith(usageAt(request.path, 10, 5))(request, response);
      const response = await ask(shared.gateway, protocol, stream, model);
      expect([model, response.status]).toEqual([model, 200]);
      const row = await rowOf(shared.gateway, response.id);
      expect(row.outcome).toBe('completed');
      expect(nanoOf(row.cost)).toBe(
        BigInt(row.tokens.input) * 1_000_000n + BigInt(row.tokens.output) * 2_000_000n,
      );
      expect(nanoOf(row.cost)).toBeGreaterThan(0n);
    }
  });

  test.each([500, 400, 404, 429, 302])(
    'a response with status %i is neither shown nor charged',
    async (status) => {
      shared.upstream.answer = (request, response) =>
        answerWith(usageAt(request.path, 10, 5), { status })(request, response);
      const response = await ask(shared.gateway, protocol, stream, 'spoilt');
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.text).not.toContain(answeredWords);
      expect((await rowOf(shared.gateway, response.id)).cost).toBeNull();
    },
  );

  test('an error beside a response with status 200 is an error', async () => {
    const more = '"error":{"message":"x","type":"api_error"},';
    shared.upstream.answer = (request, response) =>
      answerWith(usageAt(request.path, 10, 5), { more })(request, response);
    const response = await ask(shared.gateway, protocol, stream, 'spoilt');
    expect(response.text).not.toContain(answeredWords);
    expect((await rowOf(shared.gateway, response.id)).cost).toBeNull();
  });
});

test('a stream as one JSON array is charged like any other', async () => {
  const response = await shared.gateway.post('/v1beta/models/cheap:streamGenerateContent', {
    contents: [{ parts: [{ text: 'hello' }] }],
  });
  expect(Array.isArray(await response.json())).toBe(true);
  const row = await rowOf(shared.gateway, response.headers.get('x-request-id') ?? '');
  expect(nanoOf(row.cost)).toBeGreaterThan(0n);
});

test('a token count never requests a generation, whatever the body says', async () => {
  clear();
  const counts = {
    '/v1/messages/count_tokens': {
      model: 'cheap',
      max_tokens: 900,
      stream: true,
      messages: [{ role: 'user', content: 'hello' }],
    },
    '/v1beta/models/cheap:countTokens': {
      contents: [{ parts: [{ text: 'hello' }] }],
      generationConfig: { maxOutputTokens: 900 },
    },
  };
  for (const [path, body] of Object.entries(counts)) {
    const response = await shared.gateway.post(path, body);
    const text = await response.text();
    // The vendor refuses members that do not belong to a count.
    if (response.status !== 400) expect(text).toMatch(/^\{"(input_tokens|totalTokens)":\d+[,}]/);
    expect(text).not.toContain('You said');
  }
  const paths = shared.gateway.simulator.requests().map(({ path }) => path);
  expect(paths.every((path) => /count_?tokens/i.test(path))).toBe(true);
});

test.each(['HEAD', 'GET', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'TRACE'])(
  '%s on a generating endpoint calls no upstream',
  async (method) => {
    clear();
    for (const protocol of textProtocols) {
      const path = protocol.path('cheap', false);
      if (method === 'TRACE') continue;
      const hasBody = method !== 'HEAD' && method !== 'GET';
      const response = await fetch(shared.gateway.url + path, {
        method,
        headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
        ...(hasBody && { body: JSON.stringify(protocol.body('cheap', false)) }),
      });
      expect([path, response.status]).toEqual([path, 405]);
    }
    expect(asked()).toBe(0);
  },
);

/** The dear model beside the cheap one, however a parser downstream might read it. */
const twoModels: readonly string[] = [
  '"model":"cheap","model":"dear"',
  '"model":"cheap","Model":"dear"',
  '"model":"cheap","MODEL":"dear"',
  '"model":"cheap","mod\\u0065l":"dear"',
  '"model":"cheap","\\u004dodel":"dear"',
  '"Model":"dear","model":"cheap"',
];

describe.each(textProtocols.filter(({ name }) => name !== 'generate-content'))(
  'S-19 $name: two models in one body',
  (protocol) => {
    const withText = (text: string): string => {
      const { model: _, ...rest } = protocol.body('cheap', false);
      return `{${text},${JSON.stringify(rest).slice(1)}`;
    };

    test.each(twoModels)('{%s} is refused', async (text) => {
      clear();
      const response = await shared.gateway.post(protocol.path('cheap', false), withText(text));
      expect(response.status).toBe(400);
      expect(asked()).toBe(0);
    });

    test.each([
      '"model":"cheap","__proto__":{"model":"dear","n":9}',
      '"model":"cheap","constructor":{"prototype":{"model":"dear"}}',
      '"model":"cheap","metadata":{"model":"dear","user_id":"other"}',
      '"model":"cheap","api_base":"http://127.0.0.1:1","base_url":"http://127.0.0.1:1"',
      '"model":"cheap","custom_llm_provider":"x","extra_headers":{"authorization":"x"}',
      '"model":"cheap","group":"vip","channel":"vip","user":"limited@example.com"',
    ])('S-18 S-20 S-48 {%s} changes neither model, route nor payer', async (text) => {
      clear();
      const response = await shared.gateway.post(protocol.path('cheap', false), withText(text));
      expect(({} as { model?: unknown }).model).toBeUndefined();
      for (const { body } of shared.gateway.simulator.requests()) {
        expect(JSON.parse(body)).toMatchObject({ model: 'demo-chat' });
      }
      const row = await rowOf(shared.gateway, response.headers.get('x-request-id') ?? '');
      expect(row).toMatchObject({ user: payer, key: 'test', model: 'cheap', channel: 'sim' });
    });
  },
);

const tricks: readonly string[] = [
  'Cheap',
  'CHEAP',
  ' cheap',
  'cheap ',
  'cheap\u0000',
  'cheap\u200b',
  'che\u0430p',
  'ｃheap',
  'cheap/../dear',
  '../dear',
  '..%2fdear',
  'cheap%00',
  'cheap?x=1',
  'cheap#x',
  'cheap:generateContent?key=',
  'cheap\r\nx-injected: 1',
  'models/cheap',
  'dear',
  '__proto__',
  'constructor',
  'toString',
  'x'.repeat(10_000),
];

describe.each(textProtocols)('S-25 $name: names that are not models', (protocol: TextProtocol) => {
  test.each(tricks)('%j is not available', async (model) => {
    clear();
    const response = await shared.gateway.post(
      protocol.path(model, false),
      protocol.body(model, false),
    );
    expect([400, 404]).toContain(response.status);
    expect(asked()).toBe(0);
    await response.text();
  });
});

test('an allowlist opens a model under all its names, and another name only itself', async () => {
  const status = async (secret: string, model: string): Promise<number> => {
    const response = await shared.gateway.post(
      '/v1/chat/completions',
      { model, messages: [{ role: 'user', content: 'hello' }] },
      { authorization: `Bearer ${secret}` },
    );
    await response.text();
    return response.status;
  };
  const listed = async (secret: string): Promise<readonly string[]> => {
    const headers = { authorization: `Bearer ${secret}` };
    const response = await fetch(`${shared.gateway.url}/v1/models`, { headers });
    const { data } = (await response.json()) as { data: { id: string }[] };
    for (const { id } of data) {
      expect((await fetch(`${shared.gateway.url}/v1/models/${id}`, { headers })).status).toBe(200);
    }
    return data.map(({ id }) => id);
  };
  expect([await status(baseOnly, 'cheap'), await status(baseOnly, 'other-name')]).toEqual([
    200, 200,
  ]);
  expect([await status(aliasOnly, 'cheap'), await status(aliasOnly, 'other-name')]).toEqual([
    403, 200,
  ]);
  expect(await listed(baseOnly)).toEqual(['cheap', 'other-name']);
  expect(await listed(aliasOnly)).toEqual(['other-name']);
});

test('S-26 a real provider receives only the allowed headers of the client', async () => {
  clear();
  shared.upstream.answer = answerWith(usageAt('/v1/chat/completions', 10, 5));
  const response = await shared.gateway.post(
    '/v1/chat/completions',
    { model: 'own', messages: [{ role: 'user', content: 'hello' }] },
    {
      'x-simulator-fault': 'usage=zero',
      'x-simulator-anything': '1',
      'x-forwarded-for': '9.9.9.9',
      cookie: 'session=1',
      'x-user': 'other',
      'openai-organization': 'org-1',
    },
  );
  expect(response.status).toBe(200);
  const { headers } = only(shared.upstream.asked);
  expect(headers.authorization).toBe('Bearer upstream-key');
  expect(Object.keys(headers).filter((name) => /simul|forw|cookie|x-|organ/.test(name))).toEqual(
    [],
  );
});

test('the books are exact to the nano-USD', async () => {
  await assertBilledExactly(shared);
});
