import { describe, expect, test } from 'vitest';
import { ask, idOf, itemsOf, respond, shareStateGateway, type Reply } from './state-gateway.ts';

const shared = shareStateGateway();

function expectNotFound(reply: Reply, code: string): void {
  expect(reply.status).toBe(404);
  expect(reply.json['error']).toMatchObject({ type: 'not_found_error', code });
  expect(reply.headers.get('x-should-retry')).toBe('false');
}

/** As Alice: the parts of her answer that may be named, and a body that names them. */
const containerOf = (reply: Reply) =>
  String((itemsOf(reply)[1] as { container_id?: string }).container_id);
const generatedFile = (reply: Reply) => /"file_id":"(cfile_\w+)"/.exec(reply.text)?.[1] ?? '';
const inInput = (part: object) => ({ input: [{ role: 'user', content: [part] }] });

const members: readonly [string, string, (reply: Reply) => object][] = [
  [
    'previous_response_id',
    'previous_response_not_found',
    (reply) => ({ previous_response_id: idOf(reply) }),
  ],
  [
    'an item reference',
    'not_found',
    (reply) => ({
      input: [
        { type: 'item_reference', id: itemsOf(reply)[2]?.id },
        { role: 'user', content: 'and?' },
      ],
    }),
  ],
  [
    'an item reference without its type',
    'not_found',
    (reply) => ({ input: [{ id: itemsOf(reply)[2]?.id }] }),
  ],
  [
    'reasoning by its id',
    'not_found',
    (reply) => ({ input: [{ type: 'reasoning', id: itemsOf(reply)[0]?.id, summary: [] }] }),
  ],
  [
    'a picture by its id',
    'not_found',
    (reply) => ({ input: [{ type: 'image_generation_call', id: itemsOf(reply)[2]?.id }] }),
  ],
  [
    'a container of a tool',
    'not_found',
    (reply) => ({ tools: [{ type: 'code_interpreter', container: containerOf(reply) }] }),
  ],
  [
    'a container of a call',
    'not_found',
    (reply) => ({
      input: [{ type: 'code_interpreter_call', id: 'ci', container_id: containerOf(reply) }],
    }),
  ],
  [
    'a file in a part',
    'not_found',
    (reply) => inInput({ type: 'input_file', file_id: generatedFile(reply) }),
  ],
  [
    'a picture in a part',
    'not_found',
    (reply) => inInput({ type: 'input_image', file_id: generatedFile(reply) }),
  ],
  [
    'a file for a tool',
    'not_found',
    (reply) => ({
      tools: [
        {
          type: 'code_interpreter',
          container: { type: 'auto', file_ids: [generatedFile(reply)] },
        },
      ],
    }),
  ],
  [
    'a file in a list of stores',
    'not_found',
    (reply) => ({ tools: [{ type: 'file_search', vector_store_ids: [generatedFile(reply)] }] }),
  ],
  [
    'a member in another case',
    'not_found',
    (reply) => inInput({ type: 'input_file', File_ID: generatedFile(reply) }),
  ],
  ['a stored prompt', 'not_found', (reply) => ({ prompt: { id: itemsOf(reply)[2]?.id } })],
];

describe.each([false, true])('responses, streamed: %s', (stream) => {
  test.each(members)('%s of Alice is not found by Bob', async (_name, code, naming) => {
    const { gateway, upstream } = shared;
    // A streamed response is asked for whole once more: its ids come by the events.
    const first = await respond(gateway, 'alice', { stream });
    const given = stream ? wholeOf(first) : first;
    upstream.clear();
    const refused = await respond(gateway, 'bob', naming(given));
    expectNotFound(refused, code);
    expect(upstream.asked).toEqual([]);
    expect((await respond(gateway, 'carol', naming(given))).status).toBe(404);
    expect((await respond(gateway, 'alice', naming(given))).status).toBe(200);
    expect((await respond(gateway, 'alice2', naming(given))).status).toBe(200);
  });

  test('a conversation is guarded by its id and as an object', async () => {
    const { gateway } = shared;
    const first = await respond(gateway, 'alice', { stream, conversation: 'conv_new' });
    const id = /"conversation":\{"id":"(\w+)"/.exec(first.text)?.[1];
    for (const conversation of [id, { id }]) {
      expectNotFound(await respond(gateway, 'bob', { conversation }), 'not_found');
      expect((await respond(gateway, 'alice', { conversation })).status).toBe(200);
    }
  });

  test('a team shares the ids that its members received', async () => {
    const { gateway } = shared;
    const first = await respond(gateway, 'carol', { stream });
    const previous_response_id = idOf(stream ? wholeOf(first) : first);
    expect((await respond(gateway, 'dave', { previous_response_id })).status).toBe(200);
    expect((await respond(gateway, 'alice', { previous_response_id })).status).toBe(404);
  });

  test('a response that is not stored is not remembered, except for the container it ran in', async () => {
    const { gateway } = shared;
    const first = await respond(gateway, 'alice', { stream, store: false });
    const given = stream ? wholeOf(first) : first;
    const next = await respond(gateway, 'bob', { previous_response_id: idOf(given) });
    expect(next.status).toBe(200);
    const tools = [{ type: 'code_interpreter', container: containerOf(given) }];
    expect((await respond(gateway, 'bob', { tools })).status).toBe(404);
  });
});

test('a cited file, an unknown id, and an id that the request named are open to everybody', async () => {
  const { gateway } = shared;
  const first = await respond(gateway, 'alice', {
    tools: [{ type: 'file_search', vector_store_ids: ['vs_made_at_the_vendor'] }],
  });
  const cited = /"file_id":"(file-cited\w+)"/.exec(first.text)?.[1];
  for (const person of ['alice', 'bob'] as const) {
    const body = inInput({ type: 'input_file', file_id: cited });
    expect((await respond(gateway, person, body)).status).toBe(200);
    const tools = [{ type: 'file_search', vector_store_ids: ['vs_made_at_the_vendor'] }];
    expect((await respond(gateway, person, { tools })).status).toBe(200);
  }
});

test('a repeated member with two ids is refused, because the upstream could read the other one', async () => {
  const { gateway, upstream } = shared;
  const file = generatedFile(await respond(gateway, 'alice'));
  upstream.clear();
  const twice = (first: string, second: string) =>
    gateway.post(
      '/v1/responses',
      `{"model":"demo-chat","input":[{"role":"user","content":[{"type":"input_file",${first},${second}}]}]}`,
      { authorization: 'Bearer sk-bob-0123456789abcdefghijklmnopqrstuvwxyz' },
    );
  for (const [first, second] of [
    [`"file_id":"${file}"`, '"file_id":"mine"'],
    [`"\\u0066ile_id":"${file}"`, '"file_id":null'],
    [`"FILE_ID":"${file}"`, '"file_id":"mine"'],
    [`"container":{"id":"${file}"}`, '"container":{"type":"auto"}'],
  ] as const) {
    const reply = await twice(first, second);
    expect(reply.status).toBe(400);
    expect(await reply.text()).toContain('duplicate key');
  }
  expect(upstream.asked).toEqual([]);
});

test('a refusal is free and reveals nothing of the owner', async () => {
  const { gateway } = shared;
  const previous_response_id = idOf(await respond(gateway, 'alice'));
  const refused = await respond(gateway, 'bob', { previous_response_id });
  expect(refused.text).not.toContain(previous_response_id);
  const row = (await gateway.usage()).find(({ id }) => id === refused.headers.get('x-request-id'));
  expect(row).toMatchObject({
    outcome: 'refused',
    status: 404,
    cost: null,
  });
});

test('names in the client’s own data are not ids', async () => {
  const { gateway } = shared;
  const file = generatedFile(await respond(gateway, 'alice'));
  const parameters = { type: 'object', default: { file_id: file } };
  const body = {
    tools: [{ type: 'function', name: 'f', parameters }],
    metadata: { file_id: file },
    input: [
      {
        role: 'assistant',
        content: [{ type: 'output_text', text: 'x', annotations: [{ file_id: file }] }],
      },
    ],
  };
  expect((await respond(gateway, 'bob', body)).status).toBe(200);
});

describe('the other protocols', () => {
  const userOf = (content: object[]) => ({
    model: 'demo-chat',
    max_tokens: 100,
    messages: [{ role: 'user', content }],
  });

  test.each(['/v1/messages', '/v1/messages/count_tokens'])('messages at %s', async (path) => {
    const { gateway } = shared;
    const hello = userOf([{ type: 'text', text: 'hello' }]);
    const first = await ask(gateway, 'alice', '/v1/messages', hello);
    const file = /"file_id":"(\w+)"/.exec(first.text)?.[1];
    const { id } = first.json['container'] as { id: string };
    const bodies = [
      { ...hello, container: id },
      { ...hello, container: { id, skills: [{ type: 'anthropic', skill_id: 'pptx' }] } },
      userOf([{ type: 'document', source: { type: 'file', file_id: file } }]),
      userOf([{ type: 'image', source: { type: 'file', file_id: file } }]),
      userOf([{ type: 'container_upload', file_id: file }]),
    ];
    for (const body of bodies) {
      const refused = await ask(gateway, 'bob', path, body);
      expect(refused.status).toBe(404);
      expect(refused.json).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
      expect((await ask(gateway, 'alice2', path, body)).status).toBe(200);
    }
    const call = { type: 'tool_use', id: 't', name: 'f', input: { file_id: file } };
    const result = { type: 'tool_result', tool_use_id: 't', content: 'x' };
    const own = {
      ...hello,
      messages: [
        ...hello.messages,
        { role: 'assistant', content: [call] },
        { role: 'user', content: [result] },
      ],
    };
    expect((await ask(gateway, 'bob', path, own)).status).toBe(200);
  });

  test('chat', async () => {
    const { gateway } = shared;
    const path = '/v1/chat/completions';
    const hello = userOf([{ type: 'text', text: 'hello' }]);
    const first = await ask(gateway, 'alice', path, hello);
    const id = /"id":"(audio_\w+)"/.exec(first.text)?.[1];
    const bodies = [
      {
        ...hello,
        messages: [...hello.messages, { role: 'assistant', audio: { id } }, hello.messages[0]],
      },
      userOf([{ type: 'file', file: { file_id: id } }]),
      { ...hello, previous_response_id: id },
    ];
    for (const body of bodies) {
      expect((await ask(gateway, 'bob', path, body)).status).toBe(404);
      expect((await ask(gateway, 'alice', path, body)).status).toBe(200);
    }
  });
});
/** The response that a stream ends with. */
function wholeOf(reply: Reply): Reply {
  const data = reply.text.split('data: ').at(-1) ?? '';
  const { response } = JSON.parse(data) as { response: Record<string, unknown> };
  return { ...reply, text: JSON.stringify(response), json: response };
}
