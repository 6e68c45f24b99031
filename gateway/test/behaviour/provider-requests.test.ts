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

const shared = shareGateway({
  config: `
channels:
${vendors
  .map(
    ({ provider, protocols }) =>
      `  - { name: ${provider}, provider: ${provider}, base_url: SIMULATOR, api_key: ${secret}, protocols: [${protocols.join(', ')}], models: [{ name: ${provider}-m, upstream: demo-chat }] }`,
  )
  .join('\n')}
models:
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
