import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startOwnUpstream, type OwnUpstream } from '../support/own-upstream.ts';
import { describeChannels } from './support.ts';

/*
 * Tools that the client runs and that only its own vendor's models know by their type: another model gets functions,
 * and the client its own kind of calls.
 */

const secret = 'sk-client-run-0123456789abcdefghijklm';

type Json = Record<string, unknown>;

let upstream: OwnUpstream;
let gateway: TestGateway;
let client: OpenAI;

beforeAll(async () => {
  upstream = await startOwnUpstream();
  gateway = await startTestGateway({
    config: `${describeChannels([
      { name: 'own', at: upstream.url, models: ['demo-chat'], protocols: ['chat'] },
    ])}
users: [{ email: agent@example.com, balance: 100 }]
keys: [{ name: agent, user: agent@example.com, secret: ${secret} }]
`,
  });
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secret, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());

/** The model calls these functions, in pieces where it streams. */
function answerWithCalls(...calls: readonly (readonly [name: string, args: string])[]): void {
  upstream.answer = ({ body }, response) => {
    const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
    const whole = calls.map(([name, args], index) => ({
      index,
      id: `call_${index}`,
      type: 'function',
      function: { name, arguments: args },
    }));
    if (body['stream'] !== true) {
      const message = { role: 'assistant', content: null, tool_calls: whole };
      const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id: 'c', model: 'demo-chat', choices, usage }));
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    const write = (choice: object | null, more: object = {}) =>
      response.write(
        `data: ${JSON.stringify({
          id: 'c',
          model: 'demo-chat',
          choices: choice === null ? [] : [{ index: 0, ...choice }],
          ...more,
        })}\n\n`,
      );
    for (const call of whole) {
      const half = Math.ceil(call.function.arguments.length / 2);
      const { index, function: called } = call;
      const first = {
        ...call,
        function: { ...called, arguments: called.arguments.slice(0, half) },
      };
      const rest = { index, function: { arguments: called.arguments.slice(half) } };
      write({ delta: { tool_calls: [first] } });
      write({ delta: { tool_calls: [rest] } });
    }
    write({ delta: {}, finish_reason: 'tool_calls' });
    write(null, { usage });
    response.end('data: [DONE]\n\n');
  };
}

/** @returns the items of the answer, and what the model was sent */
async function ask(stream: boolean, tools: readonly object[], input: readonly object[]) {
  const body = { model: 'demo-chat', input, tools } as OpenAI.Responses.ResponseCreateParams;
  const { output } = stream
    ? await client.responses
        .stream(body as OpenAI.Responses.ResponseCreateParamsStreaming)
        .finalResponse()
    : await client.responses.create(body as OpenAI.Responses.ResponseCreateParamsNonStreaming);
  return { output: output as unknown as readonly Json[], sent: upstream.asked.at(-1)?.body ?? {} };
}

const functionsOf = (sent: Json) =>
  (sent['tools'] as readonly { readonly function: Json }[]).map((tool) => tool.function);

const question = { role: 'user', content: 'Go on.' };

const kinds = [
  {
    tool: { type: 'shell', environment: { type: 'local' } },
    args: { commands: ['ls', 'pwd'], timeout_ms: 1000 },
    call: {
      type: 'shell_call',
      action: { commands: ['ls', 'pwd'], timeout_ms: 1000, max_output_length: null },
    },
    result: {
      type: 'shell_call_output',
      output: [{ stdout: 'a.txt', stderr: 'no', outcome: { type: 'exit', exit_code: 2 } }],
    },
    text: 'a.txt\nstderr:\nno\nexit code 2',
  },
  {
    tool: { type: 'local_shell' },
    args: { command: ['ls', '-l'], env: { A: 'b' } },
    call: {
      type: 'local_shell_call',
      action: { type: 'exec', command: ['ls', '-l'], env: { A: 'b' } },
    },
    result: { type: 'local_shell_call_output', output: 'a.txt' },
    text: 'a.txt',
  },
  {
    tool: { type: 'apply_patch' },
    args: { type: 'update_file', path: 'a.txt', diff: '@@\n-a\n+b' },
    call: {
      type: 'apply_patch_call',
      operation: { type: 'update_file', path: 'a.txt', diff: '@@\n-a\n+b' },
    },
    result: { type: 'apply_patch_call_output', status: 'failed', output: 'no such line' },
    text: 'Error: no such line',
  },
  {
    tool: {
      type: 'computer_use_preview',
      display_width: 800,
      display_height: 600,
      environment: 'linux',
    },
    args: { type: 'click', x: 1, y: 2, button: 'left' },
    call: {
      type: 'computer_call',
      action: { type: 'click', x: 1, y: 2, button: 'left' },
      pending_safety_checks: [],
    },
    result: {
      type: 'computer_call_output',
      output: { type: 'computer_screenshot', image_url: 'data:image/png;base64,aGVsbG8=' },
    },
    text: 'aGVsbG8=',
  },
  {
    tool: {
      type: 'tool_search',
      execution: 'client',
      description: 'Finds tools.',
      parameters: { type: 'object', properties: { goal: { type: 'string' } } },
    },
    args: { goal: 'weather' },
    call: { type: 'tool_search_call', execution: 'client', arguments: { goal: 'weather' } },
    result: {
      type: 'tool_search_output',
      execution: 'client',
      tools: [{ type: 'function', name: 'get_weather', parameters: { type: 'object' } }],
    },
    text: 'Found: get_weather.',
  },
] as const;

describe.each(kinds)('$tool.type', ({ tool, args, call, result, text }) => {
  test.each([false, true])(
    'is a function, and its calls come as its own (streamed: %s)',
    async (stream) => {
      answerWithCalls([tool.type, JSON.stringify(args)]);
      const { output, sent } = await ask(stream, [tool], [question]);
      expect(functionsOf(sent)).toMatchObject([
        { name: tool.type, parameters: { type: 'object' } },
      ]);
      expect(output).toEqual([
        expect.objectContaining({ ...call, status: 'completed', call_id: expect.any(String) }),
      ]);

      // The model reads what came of it.
      const [item] = output;
      const { call_id, id } = item ?? {};
      const named = result.type === 'local_shell_call_output' ? { id } : { call_id };
      const next = await ask(stream, [tool], [question, item ?? {}, { ...result, ...named }]);
      const messages = next.sent['messages'] as readonly Json[];
      expect(messages[1]?.['tool_calls']).toMatchObject([
        { id: call_id, function: { name: tool.type } },
      ]);
      const said = messages[1] as {
        readonly tool_calls: readonly [{ readonly function: { readonly arguments: string } }];
      };
      expect(JSON.parse(said.tool_calls[0].function.arguments)).toMatchObject(args);
      expect(messages[2]).toMatchObject({ role: 'tool', tool_call_id: call_id });
      expect(JSON.stringify(messages.slice(2))).toContain(JSON.stringify(text).slice(1, -1));
      const names = functionsOf(next.sent).map(({ name }) => name);
      expect(names).toEqual(
        tool.type === 'tool_search' ? ['tool_search', 'get_weather'] : [tool.type],
      );
    },
  );
});

test.each([false, true])(
  'a call that says half of what the tool needs is shown as the function call that it is (streamed: %s)',
  async (stream) => {
    answerWithCalls(
      ['shell', '{"commands":["rm -r'],
      ['apply_patch', '{"type":"update_file","path":"a"}'],
    );
    const { output } = await ask(stream, [{ type: 'shell' }, { type: 'apply_patch' }], [question]);
    expect(output).toMatchObject([
      { type: 'function_call', name: 'shell', arguments: '{"commands":["rm -r' },
      { type: 'function_call', name: 'apply_patch' },
    ]);
  },
);

test('a function of the same name stays a function', async () => {
  answerWithCalls(['shell', '{"commands":["ls"]}']);
  const own = { type: 'function', name: 'shell', parameters: { type: 'object' }, strict: null };
  const { output, sent } = await ask(false, [own, { type: 'shell' }], [question]);
  const names = functionsOf(sent).map(({ name }) => name);
  expect(new Set(names).size).toBe(2);
  expect(names[0]).toBe('shell');
  expect(output).toMatchObject([{ type: 'function_call', name: 'shell' }]);
});

test('a shell in a container of the vendor is not made up', async () => {
  answerWithCalls();
  const { sent } = await ask(
    false,
    [{ type: 'shell', environment: { type: 'container_auto' } }, { type: 'apply_patch' }],
    [question],
  );
  expect(functionsOf(sent).map(({ name }) => name)).toEqual(['apply_patch']);
});

test('the tools that clients of messages run become functions of the same names', async () => {
  answerWithCalls(['bash', '{"command":"ls"}']);
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: {
      'x-api-key': secret,
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
    },
    body: JSON.stringify({
      model: 'demo-chat',
      max_tokens: 100,
      tools: [
        { type: 'bash_20250124', name: 'bash' },
        { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 500 },
        { type: 'text_editor_20250124', name: 'str_replace_editor' },
        { type: 'memory_20250818', name: 'memory' },
        {
          type: 'computer_20250124',
          name: 'computer',
          display_width_px: 800,
          display_height_px: 600,
        },
      ],
      tool_choice: { type: 'tool', name: 'bash' },
      messages: [
        { role: 'user', content: 'Look.' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 't1', name: 'bash', input: { command: 'pwd' } }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: '/root' }] },
      ],
    }),
  });
  const answer = (await response.json()) as Json;
  expect(answer).toMatchObject({
    stop_reason: 'tool_use',
    content: [{ type: 'tool_use', name: 'bash', input: { command: 'ls' } }],
  });
  const sent = upstream.asked.at(-1)?.body ?? {};
  const functions = functionsOf(sent);
  expect(functions.map(({ name }) => name)).toEqual([
    'bash',
    'str_replace_based_edit_tool',
    'str_replace_editor',
    'memory',
    'computer',
  ]);
  const [, editor, older, , computer] = functions;
  expect(editor).toMatchObject({ description: expect.stringContaining('500') });
  expect(editor).toMatchObject({ parameters: { properties: { insert_text: {} } } });
  expect(older).not.toMatchObject({ parameters: { properties: { insert_text: {} } } });
  expect(computer).toMatchObject({ description: expect.stringContaining('800') });
  expect(sent['tool_choice']).toEqual({ type: 'function', function: { name: 'bash' } });
  expect(sent['messages']).toMatchObject([
    { role: 'user' },
    { tool_calls: [{ function: { name: 'bash' } }] },
    { role: 'tool', content: '/root' },
  ]);
});
