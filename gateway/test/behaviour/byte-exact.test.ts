import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonText, jsonValue } from '../property/json-text.ts';
import { openGateway, shareGateway } from './support.ts';
import { textProtocols, type TextProtocol } from './text-protocols.ts';

const shared = shareGateway({});

/** Sends these bytes and answers what the upstream was sent, with the response's status. */
async function through(protocol: TextProtocol, body: string, model = 'demo-chat') {
  const { gateway } = shared;
  gateway.simulator.clear();
  const response = await gateway.post(protocol.path(model, false), body);
  const text = await response.text();
  const received = gateway.simulator.requests();
  return { status: response.status, headers: response.headers, text, received };
}

const awkward =
  String.raw`"x_big": 12345678901234567890123, "x_one":1.0 ,"x_exp":1E+2,"x_neg":-0,"x_esc":"\u00e9\/\ud83d\ude00 \u0000","x_utf":"é😀",` +
  `\n\t"x_keys":{"b":1,"a":[ ],"10":{ },"2":null},"x_deep":[[[{"n":0.10}]]]`;

const bodies: Record<TextProtocol['name'], (more: string) => string> = {
  chat: (more) =>
    ` {${more}"model" : "demo-chat", "messages":[{"role":"user","content":"hello"}] }\n`,
  responses: (more) => `{${more}"input":"hello", "model":"demo-chat"}`,
  messages: (more) =>
    `{"model":"demo-chat",${more}"max_tokens":1e2,"messages":[{"role":"user","content":"hello"}]}`,
  'generate-content': (more) => `{${more}"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`,
};

describe.each(textProtocols)('$name', (protocol) => {
  const body = bodies[protocol.name];

  test('unpatched parts reach the upstream byte for byte', async () => {
    const sent = body(`${awkward},`);
    const { status, received } = await through(protocol, sent);
    expect(status).toBe(200);
    expect(received.map((request) => request.body)).toEqual([sent]);
  });

  test('any JSON reaches the upstream byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(jsonValue.chain(jsonText), async (value) => {
        const sent = body(`"x_any":${value},`);
        const { received } = await through(protocol, sent);
        expect(received.map((request) => request.body)).toEqual([sent]);
      }),
      { numRuns: 40 },
    );
  });

  test('S-18 no member of a body steers the gateway', async () => {
    const control = {
      api_base: 'http://127.0.0.1:1/',
      base_url: 'http://127.0.0.1:1/',
      custom_llm_provider: 'openai',
      extra_headers: { authorization: 'Bearer stolen' },
      deployment_id: 'other',
      api_key: 'stolen',
      mock_response: 'mocked',
      // Messages repairs fields of these names: b39, b40.
      ...(protocol.name === 'messages'
        ? { metadata: { user_id: 'x' } }
        : { metadata: { user_api_key: 'x' } }),
    };
    const sent = body(JSON.stringify(control).slice(1, -1).concat(','));
    const { received } = await through(protocol, sent);
    expect(received.map((request) => request.body)).toEqual([sent]);
    expect(new Map(received[0]?.headers).get('authorization') ?? '').not.toContain('stolen');
  });

  test.each(duplicatesOf(protocol))(
    'S-19 a member named twice never reaches the upstream: %s',
    async (more) => {
      const { status, text, received } = await through(protocol, body(more));
      expect(status).toBe(400);
      expect(protocol.errorMessage(JSON.parse(text))).toMatch(
        /^invalid request body: duplicate key '/,
      );
      expect(received).toEqual([]);
    },
  );

  test('S-20 __proto__ and constructor are ordinary members at any depth', async () => {
    const poison =
      '"__proto__":{"polluted":1,"stream":true},"constructor":{"prototype":{"polluted":1}},';
    const sent = body(`${poison}"x_deep":[{${poison.slice(0, -1)}}],`);
    const { status, received } = await through(protocol, sent);
    expect([200, 400]).toContain(status);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    for (const request of received) expect(request.body).toBe(sent);
    expect((await through(protocol, body(''))).status).toBe(200);
  });
});

/** Members that some parser would read as a second one of what the body has already. */
function duplicatesOf({ name }: TextProtocol): string[] {
  const models = ['"model":', '"Model":', '"MODEL":', String.raw`"mod\u0065l":`].map(
    (key) => `${key}"demo-reasoning",`,
  );
  switch (name) {
    case 'chat':
      return [...models, '"messages":[],', '"n":1,"n":9,', '"stream":true,"STREAM":false,'];
    case 'responses':
      return [...models, '"input":[],', '"max_output_tokens":1,"max_output_tokens":9,'];
    case 'messages':
      return [...models, '"messages":[],', '"max_tokens":9,', '"stream":true,"stream":false,'];
    case 'generate-content':
      // The path names the model; a body may repeat it.
      return [
        ...models.map((member) => `"model":"models/demo-chat",${member}`),
        '"contents":[],',
        '"generationConfig":{"candidateCount":1,"candidateCount":9},',
        '"generationConfig":{"maxOutputTokens":1,"max_output_tokens":9},',
      ];
  }
}

test('the declared patches are the only difference', async () => {
  const gateway = await openGateway({
    config: `
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat, messages], models: [{ name: alias, upstream: demo-chat }] }
models:
  - { id: alias, type: chat, max_output_tokens: 500, price: { input: 1, output: 2 } }
`,
  });
  const sentAs = async (path: string, body: string) => {
    const response = await gateway.post(path, body);
    await response.text();
    return [gateway.simulator.requests().at(-1)?.body, response.headers.get('x-sluice-rewrites')];
  };
  const messages = '"messages":[{"role":"user","content":"hello"}]';
  expect(
    await sentAs(
      '/v1/chat/completions',
      `{ "x_n":1.0, "model" :"alias","stream":true, ${messages}}`,
    ),
  ).toEqual([
    `{"stream_options":{"include_usage":true}, "x_n":1.0, "model" :"demo-chat","stream":true, ${messages}}`,
    null,
  ]);
  expect(await sentAs('/v1/messages', `{"model":"alias","max_tokens":200,${messages}}`)).toEqual([
    `{"model":"demo-chat","max_tokens":200,${messages}}`,
    null,
  ]);
  expect(await sentAs('/v1/messages', `{"model":"alias",${messages}}`)).toEqual([
    `{"max_tokens":500,"model":"demo-chat",${messages}}`,
    'b2',
  ]);
  expect(
    await sentAs(
      '/v1/messages',
      `{"model":"alias","temperature":0.5,"max_tokens":9000,${messages}}`,
    ),
  ).toEqual([`{"model":"demo-chat","max_tokens":500,${messages}}`, 'b1,b2']);
  const [row] = await gateway.usage();
  expect(row?.rewrites).toEqual(['b1', 'b2']);
});
