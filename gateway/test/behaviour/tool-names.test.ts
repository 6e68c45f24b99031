import { expect, test } from 'vitest';
import { rowOf, shareGateway } from './support.ts';

const models = (suffix: string) =>
  ['claude-sonnet-4-5', 'demo-chat'].map(
    (name) => `      - { name: ${name}${suffix}, upstream: ${name} }`,
  );
const channel = (name: string, at: string, suffix: string) => [
  `  - name: ${name}`,
  '    provider: simulator',
  `    base_url: SIMULATOR${at}`,
  '    protocols: [messages]',
  '    models:',
  ...models(suffix),
];
const priced = ['', '-sliced'].flatMap((suffix) =>
  ['claude-sonnet-4-5', 'demo-chat'].map(
    (name) => `  - { id: ${name}${suffix}, type: chat, price: { input: 1, output: 2 } }`,
  ),
);

const shared = shareGateway({
  config: [
    'channels:',
    ...channel('whole', '', ''),
    ...channel('sliced', '/fault(slice=random)', '-sliced'),
    'models:',
    ...priced,
  ].join('\n'),
});

/** The client's own; two of them would be the same if they were only cleaned, and one is what another becomes. */
const own = ['file.read', 'file read', 'file_read', `mcp__${'x'.repeat(140)}`, 'Dateiöffnen'];
const legal = /^[a-zA-Z0-9_-]{1,128}$/;
const schema = { type: 'object', properties: { path: { type: 'string' } } };

interface Block {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

function bodyOf(model: string, stream: boolean, calls: readonly Block[] = []) {
  return {
    model,
    max_tokens: 1000,
    stream,
    tools: own.map((name) => ({ name, input_schema: schema })),
    messages: [
      { role: 'user', content: 'call tools' },
      ...(calls.length === 0
        ? []
        : [
            { role: 'assistant', content: calls },
            {
              role: 'user',
              content: calls.map(({ id }) => ({
                type: 'tool_result',
                tool_use_id: id,
                content: 'ok',
              })),
            },
          ]),
    ],
  };
}

async function send(body: unknown, path = '/v1/messages') {
  const { gateway } = shared;
  gateway.simulator.clear();
  const response = await gateway.post(path, body);
  const text = await response.text();
  const [received] = gateway.simulator.requests();
  return {
    response,
    text,
    received: JSON.parse(String(received?.body)) as ReturnType<typeof bodyOf>,
  };
}

/** The calls of a response, as its client reads them. */
function callsOf(text: string, stream: boolean): Block[] {
  if (!stream) {
    const { content } = JSON.parse(text) as { content: Block[] };
    return content.filter(({ type }) => type === 'tool_use');
  }
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(
    ([, data]) =>
      JSON.parse(String(data)) as {
        type: string;
        index: number;
        content_block?: Block;
        delta?: { partial_json?: string };
      },
  );
  return events.flatMap(({ content_block: block, index: at }) => {
    if (block?.type !== 'tool_use') return [];
    const parts = events
      .filter(({ index }) => index === at)
      .map(({ delta }) => delta?.partial_json);
    return [{ ...block, input: JSON.parse(parts.join('') || '{}') as unknown }];
  });
}

test('the upstream refuses the original names', async () => {
  const response = await fetch(`${shared.gateway.simulator.url}/v1/messages`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      'x-api-key': 'k',
    },
    body: JSON.stringify(bodyOf('claude-sonnet-4-5', false)),
  });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('tools.0.custom.name');
});

test.each(
  ['claude-sonnet-4-5', 'demo-chat', 'claude-sonnet-4-5-sliced'].flatMap((model) =>
    [false, true].map((stream) => ({ model, stream })),
  ),
)(
  'parallel calls of $model come back under the client’s names (stream: $stream)',
  async ({ model, stream }) => {
    const first = await send(bodyOf(model, stream));
    expect(first.response.status).toBe(200);
    expect(first.response.headers.get('x-sluice-rewrites')).toBe('b29');
    const id = first.response.headers.get('x-request-id') ?? '';
    expect((await rowOf(shared.gateway, id)).rewrites).toEqual(['b29']);
    const sent = first.received.tools.map(({ name }) => name);
    for (const name of sent) expect(name).toMatch(legal);
    expect(new Set(sent).size).toBe(own.length);
    expect(sent[2]).toBe('file_read');

    const calls = callsOf(first.text, stream);
    expect(calls.map(({ name }) => name)).toEqual(own);

    // The upstream reads its own call from the previous turn.
    const second = await send(bodyOf(model, stream, calls));
    expect(second.response.status).toBe(200);
    expect(second.received.tools).toEqual(first.received.tools);
    const [, said] = second.received.messages;
    expect((said!.content as Block[]).map(({ name }) => name)).toEqual(sent);
  },
);

test('tokens are counted', async () => {
  const { max_tokens: _, stream: __, ...body } = bodyOf('claude-sonnet-4-5', false);
  const { response, text, received } = await send(body, '/v1/messages/count_tokens');
  expect(response.status).toBe(200);
  expect(response.headers.get('x-sluice-rewrites')).toBe('b29');
  expect(response.headers.get('x-sluice-estimated')).toBeNull();
  expect(JSON.parse(text)).toEqual({ input_tokens: expect.any(Number) });
  for (const { name } of received.tools) expect(name).toMatch(legal);
});

test('errors about names use the client’s own names', async () => {
  const body = {
    ...bodyOf('claude-sonnet-4-5', false),
    tool_choice: { type: 'tool', name: 'x.y' },
  };
  const response = await shared.gateway.post('/v1/messages', body);
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('names x.y, which is not among the tools');
});
