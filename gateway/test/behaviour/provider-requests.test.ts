import { describe, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { ask, only, shareGateway } from './support.ts';
import { textProtocols, type TextProtocol } from './text-protocols.ts';

/* S-02: how each vendor's upstream is asked, through a running gateway: where, and signed in how. */

const secret = 'upstream-secret-0123456789';

interface Vendor {
  readonly provider: string;
  /** The version path of the vendor's own address, as in the defaults. */
  readonly version: string;
  readonly protocols: readonly TextProtocol['name'][];
  /** The only header that signs in. */
  readonly credential: readonly [name: string, value: string];
}

const vendors: readonly Vendor[] = [
  {
    provider: 'anthropic',
    version: '/v1',
    protocols: ['messages'],
    credential: ['x-api-key', secret],
  },
  {
    provider: 'gemini',
    version: '/v1beta',
    protocols: ['generate-content'],
    credential: ['x-goog-api-key', secret],
  },
  {
    provider: 'openai',
    version: '/v1',
    protocols: ['chat', 'responses'],
    credential: ['authorization', `Bearer ${secret}`],
  },
  {
    provider: 'openai-compatible',
    version: '/v1',
    protocols: ['chat'],
    credential: ['authorization', `Bearer ${secret}`],
  },
];
const signIn = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'];

/** Of a channel that lists no protocols. */
const openAiModels = [
  'gpt-4.1',
  'gpt-5',
  'gpt-5.4',
  'gpt-5.6-terra',
  'gpt-6.1-sol',
  'o4-mini',
  'gpt-5.2-codex',
  'gpt-4o-search-preview',
];

const shared = shareGateway({
  config: `
channels:
${vendors
  .map(
    ({ provider, protocols }) =>
      `  - { name: ${provider}, provider: ${provider}, base_url: SIMULATOR, api_key: ${secret}, protocols: [${protocols.join(', ')}], models: [{ name: ${provider}-m, upstream: demo-chat }] }`,
  )
  .join('\n')}
  - { name: default-protocols, provider: openai, base_url: SIMULATOR, api_key: ${secret}, models: [${openAiModels.join(', ')}] }
  - { name: open-chat, provider: openai-compatible, base_url: SIMULATOR, api_key: ${secret}, models: [{ name: open-chat, upstream: qwen3.8-27b }] }
  - { name: open-responses, provider: openai-compatible, base_url: SIMULATOR, api_key: ${secret}, protocols: [responses], models: [{ name: open-responses, upstream: qwen3.8-27b }] }
models:
${[...openAiModels, 'open-chat', 'open-responses'].map((id) => `  - { id: ${id}, type: chat, price: { input: 1, output: 2 } }`).join('\n')}
${vendors.map(({ provider }) => `  - { id: ${provider}-m, type: chat, price: { input: 1, output: 2 } }`).join('\n')}
`,
});

/** The upstream's path below its version, of a generation in its own protocol. */
const paths: Record<TextProtocol['name'], (stream: boolean) => string> = {
  chat: () => '/chat/completions',
  responses: () => '/responses',
  messages: () => '/messages',
  'generate-content': (stream) =>
    `/models/demo-chat:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
};

/**
 * Checks that the simulator received exactly one request since it was cleared, signed in only as the vendor requires.
 */
function expectAsked(vendor: Vendor, path: string): void {
  const request = only(shared.gateway.simulator.requests());
  expect(`${request.method} ${request.path}`).toBe(`POST ${vendor.version}${path}`);
  expect(request.status).toBe(200);
  expect(request.headers.filter(([name]) => signIn.includes(name))).toEqual([vendor.credential]);
  expect(request.path).not.toContain(secret);
  expect(request.body).not.toContain(secret);
  expect(JSON.stringify(request)).not.toContain(testKey);
  const versions = request.headers.filter(([name]) => name === 'anthropic-version');
  expect(versions).toEqual(
    vendor.provider === 'anthropic' ? [['anthropic-version', '2023-06-01']] : [],
  );
}

describe.each(vendors)('$provider', (vendor) => {
  const model = `${vendor.provider}-m`;

  describe.each(textProtocols)('for clients of $name', (protocol) => {
    test.each([false, true])('is called at its own path (streamed: %s)', async (stream) => {
      const { gateway } = shared;
      gateway.simulator.clear();
      const response = await ask(gateway, protocol, stream, model);
      expect(response.status).toBe(200);
      if (stream) expect(response.text).toMatch(protocol.terminator);
      // The client's protocol if the vendor has it, otherwise the vendor's first.
      const spoken =
        vendor.protocols.find((name) => name === protocol.name) ?? vendor.protocols[0]!;
      expectAsked(vendor, paths[spoken](stream));
    });
  });
});

describe('a model of OpenAI gets converted requests in the protocol that takes them', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } } };
  const [chat, responses, messages, generateContent] = textProtocols;
  const withTool = {
    chat: {
      tools: [{ type: 'function', function: { name: 'weather', parameters: schema } }],
    },
    responses: { tools: [{ type: 'function', name: 'weather', parameters: schema }] },
    messages: {
      tools: [{ name: 'weather', input_schema: schema }],
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
    },
    'generate-content': {
      tools: [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: schema }] }],
      generationConfig: { thinkingConfig: { thinkingLevel: 'HIGH' } },
    },
  };
  const send = (protocol: TextProtocol, model: string, stream: boolean, more: object) => {
    const body = { ...protocol.body(model, stream, 'call tool weather'), ...more };
    shared.gateway.simulator.clear();
    return shared.gateway.post(protocol.path(model, stream), body);
  };

  test.each([
    ['gpt-5', 'responses'],
    ['gpt-5.4', 'responses'],
    ['gpt-5.6-terra', 'responses'],
    ['gpt-6.1-sol', 'responses'],
    ['o4-mini', 'responses'],
    ['gpt-5.2-codex', 'responses'],
  ] as const)('%s: a tool with an effort goes to %s', async (model, spoken) => {
    for (const protocol of [messages!, generateContent!]) {
      for (const stream of [false, true]) {
        const response = await send(protocol, model, stream, withTool[protocol.name]);
        const text = await response.text();
        expect([protocol.name, response.status, text]).toEqual([
          protocol.name,
          200,
          expect.stringContaining('weather'),
        ]);
        expectAsked(vendors[2]!, paths[spoken](stream));
      }
    }
  });

  test.each([
    [chat!, 'gpt-5.2-codex', 'responses'],
    [responses!, 'gpt-4o-search-preview', 'chat'],
    [messages!, 'gpt-4.1', 'chat'],
    [chat!, 'gpt-5', 'chat'],
    [responses!, 'gpt-4.1', 'responses'],
  ] as const)('$0.name to $1 is $2', async (protocol, model, spoken) => {
    const response = await send(protocol, model, false, withTool[protocol.name]);
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringContaining('weather'),
    ]);
    expectAsked(vendors[2]!, paths[spoken](false));
  });

  test('a client of chat gets what the vendor says to chat', async () => {
    const response = await send(chat!, 'gpt-5.6-terra', false, withTool.chat);
    expect(response.status).toBe(400);
    const request = only(shared.gateway.simulator.requests());
    expect(request.path).toBe('/v1/chat/completions');
  });

  test('what responses cannot carry goes to chat', async () => {
    const response = await send(generateContent!, 'gpt-5', false, {
      generationConfig: { candidateCount: 2 },
    });
    expect(response.status).toBe(200);
    expectAsked(vendors[2]!, paths.chat(false));
  });
});

describe('a template that takes instructions at the beginning only', () => {
  const instructions = { role: 'system', content: 'Be brief.' };
  const said = (text: string) => ({ role: 'user', content: text });
  const history = [said('hello'), instructions, said('and now?')];
  const sessions = {
    messages: ['/v1/messages', { max_tokens: 100, system: 'Be kind.', messages: history }],
    responses: [
      '/v1/responses',
      {
        instructions: 'Be kind.',
        input: [{ role: 'developer', content: 'Be exact.' }, ...history],
      },
    ],
    chat: ['/v1/chat/completions', { messages: history }],
  } as const;

  test.each([
    ['messages', 'open-chat'],
    ['responses', 'open-chat'],
    ['messages', 'open-responses'],
    ['chat', 'open-responses'],
  ] as const)('a session of %s at %s is answered', async (client, model) => {
    const [path, body] = sessions[client];
    const response = await shared.gateway.post(path, { model, ...body });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-sluice-conversion')).toContain('approx=system');
  });
});

describe('token counts', () => {
  const ways = [
    {
      vendor: vendors[0]!,
      path: '/v1/messages/count_tokens',
      body: { model: 'anthropic-m', messages: [{ role: 'user', content: 'hello' }] },
      asked: '/messages/count_tokens',
    },
    {
      vendor: vendors[1]!,
      path: '/v1beta/models/gemini-m:countTokens',
      body: { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] },
      asked: '/models/demo-chat:countTokens',
    },
  ];
  test.each(ways)('$vendor.provider counts at $asked', async ({ vendor, path, body, asked }) => {
    const { gateway } = shared;
    gateway.simulator.clear();
    const response = await gateway.post(path, body);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-sluice-estimated')).toBeNull();
    expectAsked(vendor, asked);
  });
});

test.each(['/v1/models', '/v1beta/models', '/v1/models/anthropic-m', '/v1beta/models/gemini-m'])(
  '%s calls no upstream',
  async (path) => {
    const { gateway } = shared;
    gateway.simulator.clear();
    const response = await fetch(gateway.url + path, {
      headers: { authorization: `Bearer ${testKey}` },
    });
    expect(response.status).toBe(200);
    expect(await response.text()).not.toContain(secret);
    expect(gateway.simulator.requests()).toEqual([]);
  },
);
