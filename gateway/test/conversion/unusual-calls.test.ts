import { describe, expect, it } from 'vitest';
import { verdict } from '#protocols/index.ts';
import { convert, readWire } from '../support/convert.ts';

type Json = Record<string, unknown>;
type Client = Parameters<typeof readWire>[0];

async function sent(client: Client, json: object, protocol: Client = 'chat') {
  const { body, losses } = await convert({
    client,
    request: readWire(client, json),
    target: { protocol },
  });
  const lost = losses.map(({ what, how }) => `${how === 'dropped' ? '-' : '~'}${what}`);
  return { json: JSON.parse(String(body)) as { messages: Json[] }, lost };
}

const question = { role: 'user', parts: [{ text: 'Weather?' }] };
const result = (more: object) => ({
  role: 'user',
  parts: [{ functionResponse: { name: 'f', response: { output: 'fine' }, ...more } }],
});

describe('a generateContent history', () => {
  it('with a call in pieces has the whole call', async () => {
    const pieces = [
      { functionCall: { name: 'f', partialArgs: [], willContinue: true } },
      {
        functionCall: {
          partialArgs: [{ jsonPath: '$.city', stringValue: 'Par' }],
          willContinue: true,
        },
      },
      {
        functionCall: {
          partialArgs: [
            { jsonPath: '$.city', stringValue: 'is' },
            { jsonPath: '$.days', numberValue: 2 },
          ],
        },
      },
      { functionCall: { name: 'g', args: { a: 1 } } },
    ];
    const contents = [
      question,
      { role: 'model', parts: pieces },
      {
        role: 'user',
        parts: ['f', 'g'].map((name) => ({ functionResponse: { name, response: {} } })),
      },
    ];
    const { json } = await sent('generate-content', { contents });
    expect(json.messages[1]?.['tool_calls']).toMatchObject([
      { function: { name: 'f', arguments: '{"city":"Paris","days":2}' } },
      { function: { name: 'g', arguments: '{"a":1}' } },
    ]);
  });

  it('with an id on the result alone is understood', async () => {
    const contents = [
      question,
      { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
      result({ id: 'call-7' }),
    ];
    const { json } = await sent('generate-content', { contents });
    const calls = json.messages[1]?.['tool_calls'] as readonly { id: string }[] | undefined;
    expect(calls).toHaveLength(1);
    expect(json.messages[2]).toMatchObject({ role: 'tool', tool_call_id: calls?.[0]?.id });
  });

  it('with calls that the provider ran loses them, and reports it', async () => {
    const ran = { functionCall: { id: 's1', name: 'google:search', args: { query: 'x' } } };
    const answered = { functionResponse: { id: 's1', name: 'google:search', response: {} } };
    const contents = [
      question,
      { role: 'model', parts: [ran, answered, { text: 'Sunny.' }] },
      { role: 'user', parts: [{ text: 'Thanks.' }] },
    ];
    const { json, lost } = await sent('generate-content', { contents });
    expect(json.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: 'Sunny.' },
      { role: 'user' },
    ]);
    expect(json.messages[1]).not.toHaveProperty('tool_calls');
    expect(lost).toContain('-functionCall');
  });
});

it('a system turn of messages may offer tools: the rest of it stays', async () => {
  const offered = { type: 'tool_addition', tool: { type: 'tool_reference', name: 'f' } };
  const messages = [
    { role: 'user', content: 'Hello' },
    { role: 'system', content: [offered] },
    { role: 'assistant', content: 'Hi' },
    { role: 'user', content: 'Bye' },
    { role: 'system', content: [{ type: 'text', text: 'Be brief.' }, offered] },
  ];
  const { json, lost } = await sent('messages', { model: 'm', max_tokens: 9, messages });
  expect(json.messages.map(({ role, content }) => [role, content])).toEqual([
    ['user', 'Hello'],
    ['assistant', 'Hi'],
    [
      'user',
      [
        { type: 'text', text: 'Bye' },
        { type: 'text', text: 'Be brief.' },
      ],
    ],
  ]);
  expect(lost).toEqual(['-messages.tool_addition', '~system']);
});

describe('a call with free text for a client that declared a function', () => {
  const tools = [{ type: 'function', name: 'patch', parameters: { type: 'object' } }];
  const client = { model: 'm', input: 'Hello', tools };
  const text = '*** "Begin"\n\u{1F600}';
  const finish = { index: 0, finish_reason: 'tool_calls' };
  const call = (input: string, more: object = {}) => ({
    index: 0,
    ...more,
    custom: { ...(Object.keys(more).length > 0 && { name: 'patch' }), input },
  });
  const argumentsOf = (json: Json) =>
    (json['output'] as Json[]).flatMap((item) =>
      item['type'] === 'function_call' ? [JSON.parse(String(item['arguments']))] : [],
    );
  const echo = { clientModel: 'm', upstreamModel: 'up' };
  const conversion = (stream: boolean) =>
    convert({
      client: 'responses',
      request: readWire('responses', { ...client, stream }),
      target: { protocol: 'chat', provider: 'openai' },
    });

  it('comes as the argument `input`', async () => {
    const { reader } = await conversion(false);
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [call(text, { id: 'c', type: 'custom' })],
    };
    const { body } = reader.readResponse(
      Buffer.from(JSON.stringify({ choices: [{ ...finish, message }] })),
      echo,
    );
    expect(argumentsOf(JSON.parse(String(body)) as Json)).toEqual([{ input: text }]);
  });

  it('also in a stream, whose pieces may divide a character', async () => {
    const { reader } = await conversion(true);
    const tap = reader.createStreamTap({ ...echo, usageInjected: false });
    const pieces = [
      call('*** "B', { id: 'c', type: 'custom' }),
      call('egin"\n\ud83d'),
      call('\ude00'),
    ];
    const chunks = [
      ...pieces.map((piece) => ({ choices: [{ index: 0, delta: { tool_calls: [piece] } }] })),
      { choices: [{ ...finish, delta: {} }] },
    ];
    const frames = chunks.map((chunk) => {
      const data = Buffer.from(JSON.stringify(chunk));
      const flags = tap.inspect({ raw: data, name: null, data });
      return (flags & verdict.replace) === 0 ? '' : String(tap.replacement);
    });
    const stream = frames.join('') + tap.completion();
    const completed = /^data: (\{"type":"response.completed".*\})$/m.exec(stream)?.[1] ?? '{}';
    const { response } = JSON.parse(completed) as { response: Json };
    expect(argumentsOf(response)).toEqual([{ input: text }]);
  });
});

describe('a request that means nothing', () => {
  it.each(['chat', 'messages', 'generate-content'] as const)(
    'is refused for %s upstreams: no conversation, and a choice among none',
    async (protocol) => {
      await expect(sent('responses', { model: 'm', input: [] }, protocol)).rejects.toThrow(
        /needs a user message \(input\)/,
      );
      const tools = [{ type: 'function', name: 'f', parameters: { type: 'object' } }];
      const choice = { type: 'brand_new_choice' };
      const json = { model: 'm', input: 'Hi', tools, tool_choice: choice };
      await expect(sent('responses', json, protocol)).rejects.toThrow(/brand_new_choice/);
    },
  );
});
