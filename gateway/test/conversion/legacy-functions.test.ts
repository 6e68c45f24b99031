import { expect, test } from 'vitest';
import { verdict } from '#protocols/index.ts';
import { convert, readWire } from '../support/convert.ts';

/** Chat clients from before `tools` read `function_call`, one, and give it back without an id. */

type Json = Record<string, unknown>;

const ask = (more: readonly Json[], stream = false) => ({
  model: 'm',
  stream,
  messages: [{ role: 'user', content: 'the weather?' }, ...more],
  functions: [{ name: 'weather', parameters: { type: 'object', properties: {} } }],
});

const sent = (json: Json) =>
  convert({ client: 'chat', request: readWire('chat', json), target: { protocol: 'messages' } });

const echo = { clientModel: 'm', upstreamModel: 'up' };
const use = (city: string) => ({
  type: 'tool_use',
  id: `toolu_${city}`,
  name: 'weather',
  input: { city },
});

test('a call becomes the response’s one function call, and its result finds it again', async () => {
  const { body, reader } = await sent(ask([]));
  expect(JSON.parse(String(body))).toMatchObject({
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  });
  const response = {
    type: 'message',
    role: 'assistant',
    content: [use('Bern'), use('Rome')],
    stop_reason: 'tool_use',
  };
  const read = reader.readResponse(Buffer.from(JSON.stringify(response)), echo);
  const { choices } = JSON.parse(String(read.body)) as { choices: Json[] };
  const message = {
    role: 'assistant',
    content: null,
    refusal: null,
    function_call: { name: 'weather', arguments: '{"city":"Bern"}' },
  };
  expect(choices).toMatchObject([{ message, finish_reason: 'function_call' }]);
  expect(choices[0]?.['message']).not.toHaveProperty('tool_calls');

  const result = { role: 'function', name: 'weather', content: 'rain' };
  const { body: next } = await sent(ask([message, result]));
  const { messages } = JSON.parse(String(next)) as { messages: { content: Json[] }[] };
  const call = messages[1]?.content[0];
  const told = messages[2]?.content[0];
  expect(call).toMatchObject({ name: 'weather', input: { city: 'Bern' } });
  expect(told).toMatchObject({ type: 'tool_result', tool_use_id: call?.['id'] });
});

test('a streamed call too', async () => {
  const { reader } = await sent(ask([], true));
  const tap = reader.createStreamTap({ ...echo, usageInjected: false });
  let frames = '';
  const events: Json[] = [
    ...['Bern', 'Rome'].flatMap((city, index) => [
      { type: 'content_block_start', index, content_block: { ...use(city), input: {} } },
      {
        type: 'content_block_delta',
        index,
        delta: { type: 'input_json_delta', partial_json: JSON.stringify({ city }) },
      },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ];
  for (const event of events) {
    const data = Buffer.from(JSON.stringify(event));
    const flags = tap.inspect({ name: String(event['type']), data, raw: data });
    if ((flags & verdict.replace) !== 0) frames += String(tap.replacement);
  }
  frames += tap.completion();
  const chunks = [...frames.matchAll(/^data: (\{.*)$/gm)].map(
    ([, json]) => (JSON.parse(json ?? '') as { choices: Json[] }).choices[0],
  );
  expect(chunks.map((choice) => [choice?.['delta'], choice?.['finish_reason']])).toEqual([
    [{ role: 'assistant', content: '' }, null],
    [{ function_call: { name: 'weather', arguments: '' } }, null],
    [{ function_call: { arguments: '{"city":"Bern"}' } }, null],
    [{}, 'function_call'],
  ]);
});
