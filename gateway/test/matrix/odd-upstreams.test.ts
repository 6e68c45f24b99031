import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ask, rowOf, shareGateway } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { payloads, readEvents } from '../recordings/tap-run.ts';
import { startOwnUpstream } from '../support/own-upstream.ts';
import { onePerProtocolAt, protocolNames, type ProtocolName } from './gateway.ts';
import { finishes, sdks } from './sdk/index.ts';

/** Answers of upstreams that speak their protocol in their own way, as every client gets them. */
const own = await startOwnUpstream();
afterAll(() => own.close());
const shared = shareGateway({
  config: onePerProtocolAt(own.url),
});

const frames = (...events: readonly object[]) =>
  events.map((event) => {
    const type = 'type' in event ? `event: ${String(event.type)}\n` : '';
    return `${type}data: ${JSON.stringify(event)}\n\n`;
  });

/** The next answers: one text when asked as a whole, a stream of these events otherwise. */
function answer(whole: object, stream: readonly string[]): void {
  own.answer = ({ path, body }, response) => {
    const isStream = body['stream'] === true || path.includes(':stream');
    const type = isStream ? 'text/event-stream' : 'application/json';
    response.writeHead(200, { 'content-type': type });
    response.end(isStream ? stream.join('') : JSON.stringify(whole));
  };
}

describe.each(textProtocols)('$name', (client) => {
  beforeEach(() => own.clear());

  test('K02 usage on every chunk ends no call', async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'up',
      choices: [{ index: 0, delta, finish_reason }],
      usage,
    });
    const piece = (text: string, more = {}) =>
      chunk({ tool_calls: [{ index: 0, ...more, function: { ...more, arguments: text } }] });
    const begun = { id: 'call_1', type: 'function', name: 'get_weather' };
    const events = [
      chunk({ role: 'assistant' }),
      piece('', begun),
      ...['{"ci', 'ty":', '"demo', ' city"}'].map((text) => piece(text)),
      chunk({}, 'tool_calls'),
    ];
    answer({}, [...frames(...events), 'data: [DONE]\n\n']);
    const asked = { model: 'at-chat', text: 'hi', tools: true, stream: true };
    expect(await sdks[client.name].ask(shared.gateway.url, asked)).toMatchObject({
      calls: [{ name: 'get_weather', input: { city: 'demo city' } }],
      finish: finishes[client.name].tools,
      inputTokens: 9,
      outputTokens: 4,
    });
  });

  test('K10 chunks without choices at the beginning, and with usage at the end', async () => {
    const base = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up' };
    const filters = { prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] };
    const choice = (delta: object, finish_reason: string | null) => ({
      ...base,
      choices: [{ index: 0, delta, finish_reason }],
      usage: null,
    });
    const usage = { prompt_tokens: 900, completion_tokens: 40, total_tokens: 940 };
    const events = [
      { ...base, id: '', model: '', choices: [], ...filters },
      choice({ role: 'assistant', content: '' }, null),
      choice({ content: 'so' }, null),
      choice({}, 'stop'),
      { ...base, choices: [], usage },
    ];
    answer({}, [...frames(...events), 'data: [DONE]\n\n']);
    const asked = { model: 'at-chat', text: 'hi', stream: true };
    expect(await sdks[client.name].ask(shared.gateway.url, asked)).toMatchObject({
      text: 'so',
      finish: finishes[client.name].end,
      inputTokens: 900,
      outputTokens: 40,
    });
    const row = await rowOf(
      shared.gateway,
      (await ask(shared.gateway, client, true, 'at-chat')).id,
    );
    expect(row).toMatchObject({ outcome: 'completed', tokens: { input: 900, output: 40 } });
    // 1 and 2 USD for a million.
    expect(Number(row.cost)).toBe(0.00098);
  });

  const response = { id: 'r', object: 'response', created_at: 1, model: 'up', output: [] };
  const failed = {
    ...response,
    status: 'failed',
    error: { code: 'server_error', message: 'CANARY' },
  };
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'up', content: [] };
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up' };
  const delta = { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null };
  const silent = { index: 0, message: { role: 'assistant', content: null }, finish_reason: null };

  /** Of each upstream: a response with nothing in it and no reason why. */
  const nothings: Readonly<Record<ProtocolName, readonly [whole: object, stream: string[]]>> = {
    chat: [
      { ...chunk, object: 'chat.completion', choices: [silent] },
      [...frames({ ...chunk, choices: [delta] }), 'data: [DONE]\n\n'],
    ],
    responses: [
      failed,
      frames({
        type: 'response.created',
        sequence_number: 0,
        response: { ...response, status: 'in_progress' },
      }),
    ],
    messages: [
      { ...message, stop_reason: null },
      frames({ type: 'message_start', message }, { type: 'message_stop' }),
    ],
    'generate-content': [
      { candidates: [{ index: 0, content: { role: 'model', parts: [] } }] },
      frames({ candidates: [{ index: 0, content: { role: 'model', parts: [] } }] }),
    ],
  };

  async function assertFailure(model: string, stream: boolean): Promise<void> {
    const told = await ask(shared.gateway, client, stream, model);
    expect([told.status, client.errorMessage(JSON.parse(told.text))]).toEqual([
      502,
      'upstream response abnormal',
    ]);
    expect(await rowOf(shared.gateway, told.id)).toMatchObject({
      outcome: 'failed',
      status: 502,
      tokens: { input: 0, output: 0 },
    });
  }

  test.each(protocolNames.filter((name) => name !== client.name))(
    'K04 an empty response of %s is a failure, whole and streamed',
    async (upstream) => {
      answer(...nothings[upstream]);
      for (const stream of [false, true]) await assertFailure(`at-${upstream}`, stream);
    },
  );

  test('K27 a failed response is a failure, whole and streamed', async () => {
    const begun = { ...response, status: 'in_progress' };
    const events = [
      { type: 'response.created', sequence_number: 0, response: begun },
      { type: 'response.in_progress', sequence_number: 1, response: begun },
      { type: 'response.failed', sequence_number: 2, response: failed },
    ];
    answer(failed, frames(...events));
    for (const stream of [false, true]) await assertFailure('at-responses', stream);
  });

  test('K27 a response that fails after text is an error after text', async () => {
    const place = { item_id: 'msg', output_index: 0, content_index: 0 };
    const item = { id: 'msg', type: 'message', role: 'assistant', content: [] };
    const events = [
      { type: 'response.created', sequence_number: 0, response },
      { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item },
      { type: 'response.output_text.delta', sequence_number: 2, ...place, delta: 'so far' },
      { type: 'response.failed', sequence_number: 3, response: failed },
    ];
    answer({}, frames(...events));
    const told = await ask(shared.gateway, client, true, 'at-responses');
    expect(told.status).toBe(200);
    expect(told.text).toContain('so far');
    expect(told.text.trimEnd().split('\n\n').at(-1)).toMatch(client.errorFrame);
    expect(told.text).not.toMatch(client.terminator);
    expect(told.text).not.toContain('CANARY');
    expect((await rowOf(shared.gateway, told.id)).outcome).toBe('failed');
  });
});

test('K02 a Messages client sees one block, open until the call is complete', async () => {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason }],
    usage: { prompt_tokens: 9, completion_tokens: 4 },
  });
  const call = (index: number, text: string, more = {}) =>
    chunk({ tool_calls: [{ index, ...more, function: { arguments: text, ...more } }] });
  answer({}, [
    ...frames(
      call(0, '{"a"', { id: 'call_1', name: 'get_time' }),
      call(0, ':1}'),
      call(1, '{"b"', { id: 'call_2', name: 'get_time' }),
      call(1, ':2}'),
      chunk({}, 'tool_calls'),
    ),
    'data: [DONE]\n\n',
  ]);
  const messages = textProtocols.find(({ name }) => name === 'messages')!;
  const { text } = await ask(shared.gateway, messages, true, 'at-chat');
  const events = payloads(readEvents([Buffer.from(text)])) as {
    type: string;
    index: number;
    delta?: { partial_json?: string };
  }[];
  const blocks = events.filter(({ type }) => type.startsWith('content_block'));
  expect(blocks.map(({ type, index, delta }) => [type, index, delta?.partial_json])).toEqual([
    ['content_block_start', 0, undefined],
    ['content_block_delta', 0, '{"a"'],
    ['content_block_delta', 0, ':1}'],
    ['content_block_stop', 0, undefined],
    ['content_block_start', 1, undefined],
    ['content_block_delta', 1, '{"b"'],
    ['content_block_delta', 1, ':2}'],
    ['content_block_stop', 1, undefined],
  ]);
});
