import type { ServerResponse } from 'node:http';
import { beforeEach, expect, test } from 'vitest';
import { answerWith, usageAt, type Asked } from '#test/support/own-upstream.ts';
import { openGateway, rowOf, shareOwnUpstream } from './support.ts';

/* Reasoning state belongs to the account that made it. Another one refuses it in its vendor's words. */

const shared = shareOwnUpstream();
let isAway = true;

/** By the path's end: what a vendor says of state that is not its own. */
const refusals: readonly (readonly [RegExp, object])[] = [
  [
    /responses$/,
    {
      error: {
        message:
          'The encrypted content for item rs_0a18 could not be verified. Reason: Encrypted content could not be decrypted or parsed.',
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_encrypted_content',
      },
    },
  ],
  [
    /\/messages$/,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
      },
    },
  ],
  [
    /:\w+/,
    { error: { code: 400, message: 'Corrupted thought signature.', status: 'INVALID_ARGUMENT' } },
  ],
  [
    /completions$/,
    { error: { message: 'Thought signature is not valid.', type: 'invalid_request_error' } },
  ],
];

/** Two accounts, each of which takes only the state that carries its own name. */
function accounts(asked: Asked, response: ServerResponse): void {
  const own = asked.path.startsWith('/a/') ? 'a' : 'b';
  const foreign = own === 'a' ? 'state-of-b' : 'state-of-a';
  if (own === 'a' && isAway) return void response.writeHead(500).end('{}');
  if (!JSON.stringify(asked.body).includes(foreign)) {
    return answerWith(usageAt(asked.path, 3, 2))(asked, response);
  }
  const refusal = refusals.find(([path]) => path.test(asked.path))?.[1];
  response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(refusal));
}

beforeEach(() => {
  isAway = true;
  shared.upstream.answer = accounts;
});

const deployments = ['ours-1', 'ours-2', 'ours-3'];

const open = () => {
  const { url } = shared.upstream;
  const ofAccount = (account: string, priority: number) =>
    [
      ['openai', '/v1', 'responses'],
      ['anthropic', '/v1', 'messages'],
      ['gemini', '/v1beta', 'generate-content'],
      ['openai-compatible', '/v1', 'chat'],
    ].map(([provider, version, protocol]) => ({
      name: `${provider}-${account}`,
      provider,
      base_url: `${url}/${account}${version}`,
      api_key: 'vendor-secret-123',
      protocols: [protocol],
      priority,
      models: [{ name: protocol, upstream: 'up' }],
    }));
  const models = [...Object.keys(protocols), ...deployments, 'pooled'];
  const deployed = {
    name: 'deployed',
    provider: 'openai-compatible',
    base_url: `${url}/deployed/v1`,
    api_key: 'vendor-secret-123',
    models: deployments,
  };
  const pooled = {
    name: 'pooled',
    provider: 'openai',
    base_url: `${url}/pooled/v1`,
    api_keys: ['vendor-secret-1', 'vendor-secret-2', 'vendor-secret-3'],
    models: [{ name: 'pooled', upstream: 'up' }],
  };
  const channels = [...ofAccount('a', 10), ...ofAccount('b', 0), deployed, pooled];
  const entries = models.map((id) => ({ id, type: 'chat', price: { input: 1, output: 2 } }));
  return openGateway({
    config: `channels: ${JSON.stringify(channels)}\nmodels: ${JSON.stringify(entries)}\n`,
  });
};

interface Turns {
  readonly path: (stream: boolean) => string;
  /** The request with the state that these accounts made, in turn. */
  readonly body: (accounts: readonly string[]) => object;
}

const user = { role: 'user', content: 'hello' };
const protocols: Record<string, Turns> = {
  responses: {
    path: () => '/v1/responses',
    body: (makers) => ({
      store: false,
      input: [
        user,
        ...makers.flatMap((maker) => [
          {
            type: 'reasoning',
            id: `rs_${maker}`,
            summary: [],
            encrypted_content: `state-of-${maker}`,
          },
          {
            type: 'function_call',
            id: `fc_${maker}`,
            call_id: `c_${maker}`,
            name: 'f',
            arguments: '{}',
          },
          { type: 'function_call_output', call_id: `c_${maker}`, output: 'done' },
        ]),
      ],
    }),
  },
  messages: {
    path: () => '/v1/messages',
    body: (makers) => ({
      max_tokens: 100,
      messages: [
        user,
        ...makers.flatMap((maker) => [
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'hm', signature: `state-of-${maker}` },
              { type: 'text', text: maker },
            ],
          },
          user,
        ]),
      ],
    }),
  },
  'generate-content': {
    path: (stream) =>
      `/v1beta/models/generate-content:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: (makers) => ({
      contents: [
        { role: 'user', parts: [{ text: 'hello' }] },
        ...makers.flatMap((maker) => [
          {
            role: 'model',
            parts: [
              {
                functionCall: { name: 'f', args: { maker } },
                thoughtSignature: `state-of-${maker}`,
              },
            ],
          },
          { role: 'user', parts: [{ functionResponse: { name: 'f', response: {} } }] },
        ]),
      ],
    }),
  },
  chat: {
    path: () => '/v1/chat/completions',
    body: (makers) => ({
      messages: [
        user,
        ...makers.flatMap((maker) => [
          {
            role: 'assistant',
            content: maker,
            reasoning_details: [{ type: 'reasoning.encrypted', data: `state-of-${maker}` }],
          },
          user,
        ]),
      ],
    }),
  },
};

test('a refused state is left out, and from then on without a refusal', async () => {
  const gateway = await open();
  for (const [model, { path, body }] of Object.entries(protocols)) {
    for (const stream of [false, true]) {
      isAway = true;
      shared.upstream.clear();
      const headers = { 'x-session-affinity': `${model} ${stream}` };
      const ask = async (makers: readonly string[]) => {
        const streamed = model === 'generate-content' ? {} : { model, stream };
        const request = { ...body(makers), ...streamed };
        const response = await gateway.post(path(stream), request, headers);
        expect(response.status).toBe(200);
        await response.text();
        return response;
      };
      const response = await ask(['a']);
      expect(response.headers.get('x-sluice-rewrites')).toBe('s1');
      expect(response.headers.get('x-sluice-conversion')).toContain('reasoning.state');
      const row = await rowOf(gateway, response.headers.get('x-request-id') ?? '');
      expect(row.attempts).toMatchObject([
        { status: 500 },
        { status: 400, result: 'upstream_rejected' },
        { status: 200 },
      ]);
      expect(row.rewrites).toEqual(['s1']);
      const last = shared.upstream.asked.at(-1)!;
      expect(JSON.stringify(last.body)).not.toContain('state-of-a');

      // Channel A is well again, and its priority is higher. It refuses what B has made meanwhile, once.
      isAway = false;
      shared.upstream.clear();
      await ask(['a', 'b']);
      expect(shared.upstream.asked).toHaveLength(2);
      shared.upstream.clear();
      const later = await ask(['a', 'b', 'a']);
      expect(later.headers.get('x-sluice-rewrites')).toBe('s1');
      expect(shared.upstream.asked).toHaveLength(1);
      const { body: sent } = shared.upstream.asked[0]!;
      expect(JSON.stringify(sent)).not.toContain('state-of-b');
      expect(JSON.stringify(sent).match(/state-of-a/g)).toHaveLength(1);
    }
  }
});

test('a body that threads read loses its state too', async () => {
  const gateway = await open();
  const { path, body } = protocols['responses']!;
  const long = { role: 'user', content: 'x'.repeat(2 * 1024 * 1024) };
  const { input, ...rest } = body(['a']) as { input: object[] };
  for (const requests of [3, 2]) {
    shared.upstream.clear();
    const request = { model: 'responses', ...rest, input: [long, ...input] };
    const response = await gateway.post(path(false), request);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-sluice-rewrites')).toBe('s1');
    const { asked } = shared.upstream;
    expect(asked).toHaveLength(requests);
    expect(JSON.stringify(asked.at(-1)!.body)).not.toContain('state-of-a');
  }
});

test('a converted request leaves out what its envelopes hold', async () => {
  const gateway = await open();
  const ask = async (messages: readonly object[]) => {
    const thinking = { type: 'enabled', budget_tokens: 1024 };
    const body = { model: 'responses', max_tokens: 2000, thinking, messages };
    const response = await gateway.post('/v1/messages', body);
    expect(response.status).toBe(200);
    return { response, content: ((await response.json()) as { content: object[] }).content };
  };
  isAway = false;
  shared.upstream.answer = (_asked, response) => {
    const reasoning = { type: 'reasoning', id: 'rs_1', encrypted_content: 'state-of-a' };
    const text = { type: 'output_text', text: 'hm', annotations: [] };
    const output = [
      { ...reasoning, summary: [{ type: 'summary_text', text: 'thought' }] },
      { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [text] },
    ];
    const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
    const body = { id: 'resp_1', object: 'response', status: 'completed', output, usage };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const { content } = await ask([user]);
  shared.upstream.clear();
  isAway = true;
  shared.upstream.answer = accounts;
  const { response } = await ask([user, { role: 'assistant', content }, user]);
  expect(response.headers.get('x-sluice-rewrites')).toBe('s1');
  expect(response.headers.get('x-sluice-conversion')).toContain('reasoning.state');
  expect(shared.upstream.asked.map(({ path }) => path)).toEqual([
    '/a/v1/responses',
    '/b/v1/responses',
    '/b/v1/responses',
  ]);
});

test('what an upstream refuses for other reasons too stays the fault of the client', async () => {
  const gateway = await open();
  shared.upstream.answer = (asked, response) => {
    response.writeHead(400).end(JSON.stringify(refusals[1]![1]));
  };
  const response = await gateway.post('/v1/messages', {
    model: 'messages',
    ...protocols['messages']!.body(['a']),
  });
  expect(response.status).toBe(400);
  expect(shared.upstream.asked).toHaveLength(2);
});

test('a session stays with the credential that made its state', async () => {
  const gateway = await open();
  const usedBy = async (session: string, makers: readonly string[]) => {
    shared.upstream.clear();
    const body = {
      model: 'pooled',
      ...protocols['responses']!.body(makers),
      instructions: session,
    };
    expect((await gateway.post('/v1/responses', body)).status).toBe(200);
    return shared.upstream.asked[0]!.headers.authorization;
  };
  shared.upstream.answer = (asked, response) =>
    answerWith(usageAt(asked.path, 3, 2))(asked, response);
  const first = await usedBy('one', []);
  expect(await usedBy('two', [])).not.toBe(first);
  for (const turns of [['x'], ['x', 'y'], ['x', 'y', 'z']]) {
    expect(await usedBy('one', turns)).toBe(first);
  }
});

const lessons: readonly [object, object, string, string][] = [
  [
    { max_tokens: 9 },
    { max_completion_tokens: 9 },
    'p8',
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  ],
  [
    { max_completion_tokens: 9 },
    { max_tokens: 9 },
    'p14',
    'Unrecognized request argument supplied: max_completion_tokens',
  ],
  [
    { messages: [{ role: 'developer', content: 'x' }] },
    { messages: [{ role: 'system', content: 'x' }] },
    'p17',
    "developer is not one of ['system', 'assistant', 'user', 'tool', 'function']",
  ],
];

test('no client teaches quirks by what it has a refusal quote', async () => {
  const gateway = await open();
  const ask = (request: object) =>
    gateway.post('/v1/chat/completions', { model: 'ours-1', messages: [user], ...request });
  shared.upstream.answer = (request, response) => {
    if (shared.upstream.asked.length > 1) {
      return answerWith(usageAt(request.path, 3, 2))(request, response);
    }
    const error = { message: `Invalid value: '${String(request.body['user'])}'` };
    response.writeHead(400).end(JSON.stringify({ error }));
  };
  expect((await ask({ user: 'max_completion_tokens unknown' })).status).toBe(200);
  expect((await ask({ max_completion_tokens: 9 })).status).toBe(200);
  expect(shared.upstream.asked[2]!.body).toHaveProperty('max_completion_tokens', 9);
});

test('an upstream whose vendor nothing tells teaches its quirks', async () => {
  const gateway = await open();
  for (const [at, [asked, sent, quirk, message]] of lessons.entries()) {
    const [[name, value] = ['', null]] = Object.entries(asked);
    shared.upstream.answer = (request, response) => {
      if (JSON.stringify(request.body[name]) !== JSON.stringify(value)) {
        return answerWith(usageAt(request.path, 3, 2))(request, response);
      }
      const error = { message, type: 'invalid_request_error' };
      response.writeHead(400).end(JSON.stringify({ error }));
    };
    for (const requests of [2, 1]) {
      shared.upstream.clear();
      const body = { model: deployments[at], messages: [user], ...asked };
      const response = await gateway.post('/v1/chat/completions', body);
      expect(response.status).toBe(200);
      expect(response.headers.get('x-sluice-rewrites')).toBe(quirk);
      expect(shared.upstream.asked).toHaveLength(requests);
      expect(shared.upstream.asked.at(-1)!.body).toMatchObject(sent);
    }
  }
});
