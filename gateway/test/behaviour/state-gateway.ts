import { afterAll, beforeAll } from 'vitest';
import type { ServerResponse } from 'node:http';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts';
import { startOwnUpstream, type Asked, type OwnUpstream } from '../support/own-upstream.ts';

/** Alice has two keys, Bob one; Carol and Dave act for one team. */
export const people = ['alice', 'alice2', 'bob', 'carol', 'dave'] as const;
export type Person = (typeof people)[number];
const secretOf = (person: Person) => `sk-${person}-0123456789abcdefghijklmnopqrstuvwxyz`;

export const accounts = `
users:
  - { email: alice@example.com, balance: 100 }
  - { email: bob@example.com, balance: 100 }
teams:
  - name: research
    balance: 100
    members: [{ user: alice@example.com }, { user: bob@example.com }]
keys:
  - { name: alice, user: alice@example.com, secret: ${secretOf('alice')} }
  - { name: alice2, user: alice@example.com, secret: ${secretOf('alice2')} }
  - { name: bob, user: bob@example.com, secret: ${secretOf('bob')} }
  - { name: carol, user: alice@example.com, team: research, secret: ${secretOf('carol')} }
  - { name: dave, user: bob@example.com, team: research, secret: ${secretOf('dave')} }
`;

/** A channel for the own upstream. @param more further members, as YAML in braces' form */
export const channelAt = (url: string, name: string, more = '') => `
  - name: ${name}
    provider: simulator
    base_url: ${url}
    api_key: upstream-key
    protocols: [chat, responses, messages, generate-content]
    models: [demo-chat]${more
      .split(';')
      .filter(Boolean)
      .map((line) => `\n    ${line.trim()}`)
      .join('')}
`;

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

export async function ask(
  gateway: Pick<TestGateway, 'url'>,
  person: Person,
  path: string,
  body: object,
): Promise<Reply> {
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secretOf(person)}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  const json = isJson ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: response.status, headers: response.headers, text, json };
}

/** Asks `/v1/responses`. */
export const respond = (
  gateway: Pick<TestGateway, 'url'>,
  person: Person,
  body: object = {},
): Promise<Reply> =>
  ask(gateway, person, '/v1/responses', { model: 'demo-chat', input: 'hello', ...body });

export const idOf = ({ json }: Reply): string => String(json['id']);
export const itemsOf = ({
  json,
}: Reply): readonly { readonly id: string; readonly type: string }[] => json['output'] as never;

let count = 0;

/** A response of the responses protocol with ids of its own. */
export function responseBody(body: Record<string, unknown>): Record<string, unknown> {
  count += 1;
  const id = `${Date.now()}${count}`;
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: 1,
    model: 'demo-chat',
    status: 'completed',
    store: body['store'] !== false,
    conversation: body['conversation'] === undefined ? null : { id: `conv_${id}` },
    output: [
      { id: `rs_${id}`, type: 'reasoning', summary: [] },
      {
        id: `ci_${id}`,
        type: 'code_interpreter_call',
        container_id: `cntr_${id}`,
        code: '1',
        outputs: [],
        status: 'completed',
      },
      {
        id: `msg_${id}`,
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [
          {
            type: 'output_text',
            text: 'hello',
            annotations: [
              { type: 'file_citation', file_id: `file-cited${id}`, index: 0, filename: 'a' },
              {
                type: 'container_file_citation',
                container_id: `cntr_${id}`,
                file_id: `cfile_${id}`,
                filename: 'a',
                start_index: 0,
                end_index: 0,
              },
            ],
          },
        ],
      },
    ],
    usage: { input_tokens: 5, output_tokens: 5, total_tokens: 10 },
  };
}

/** Answers in the protocol of the path, streamed or whole; everything is answered. */
export function answerAnything({ path, body }: Asked, response: ServerResponse): void {
  if (!path.endsWith('/responses')) {
    const whole = path.includes(':') ? gemini : path.endsWith('/messages') ? message : chat;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(whole(`${Date.now()}${(count += 1)}`)));
    return;
  }
  const whole = responseBody(body);
  if (body['stream'] !== true) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(eventsOf(whole).join(''));
}

export function eventsOf(whole: Record<string, unknown>): string[] {
  const event = (type: string, more: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const output = whole['output'] as object[];
  const begun = { ...whole, output: [], status: 'in_progress' };
  return [
    event('response.created', { sequence_number: 0, response: begun }),
    event('response.output_text.delta', { sequence_number: 1, delta: 'hello' }),
    ...output.map((item, at) =>
      event('response.output_item.done', { sequence_number: 2 + at, output_index: at, item }),
    ),
    event('response.completed', { sequence_number: 9, response: whole }),
  ];
}

const chat = (id: string) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'demo-chat',
  choices: [
    {
      index: 0,
      finish_reason: 'stop',
      message: {
        role: 'assistant',
        content: 'hello',
        audio: { id: `audio_${id}`, data: 'AAAA', transcript: 'hello', expires_at: 1 },
      },
    },
  ],
  usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 },
});

const message = (id: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'demo-chat',
  content: [
    {
      type: 'bash_code_execution_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: {
        type: 'bash_code_execution_result',
        content: [{ type: 'bash_code_execution_output', file_id: `file_${id}` }],
      },
    },
    { type: 'text', text: 'hello' },
  ],
  container: { id: `container_${id}`, expires_at: '2030-01-01T00:00:00Z' },
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 5 },
});

const gemini = () => ({
  candidates: [
    { index: 0, content: { role: 'model', parts: [{ text: 'hello' }] }, finishReason: 'STOP' },
  ],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 5, totalTokenCount: 10 },
  modelVersion: 'demo-chat',
});

/** One gateway before an upstream of the test's own, for all tests of a file. */
export function shareStateGateway(
  more = '',
  options: TestGatewayOptions = {},
): { readonly gateway: TestGateway; readonly upstream: OwnUpstream } {
  let gateway: TestGateway | null = null;
  let upstream: OwnUpstream | null = null;
  beforeAll(async () => {
    upstream = await startOwnUpstream();
    upstream.answer = answerAnything;
    const config = `channels:${channelAt(upstream.url, 'main', more)}${accounts}`;
    gateway = await startTestGateway({ config, ...options });
  });
  afterAll(async () => {
    await gateway?.close();
    await upstream?.close();
  });
  return {
    get gateway() {
      return gateway!;
    },
    get upstream() {
      return upstream!;
    },
  };
}
