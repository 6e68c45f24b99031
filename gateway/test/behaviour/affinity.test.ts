import { describe, expect, test } from 'vitest';
import { describeChannels, only, shareGateway } from './support.ts';
import { textProtocols, type TextProtocol } from './text-protocols.ts';

const names = ['a', 'b', 'c'];
const shared = shareGateway({
  config: describeChannels([
    ...names.map((name) => ({ name, models: ['m -> demo-chat', 'partly -> demo-chat'] })),
    { name: 'limited', at: '/fault(status=429;retry-after=1)', models: ['partly -> demo-chat'] },
    { name: 'failing', at: '/fault(status=500)', models: ['partly -> demo-chat'] },
  ]),
});

interface Turn {
  readonly model?: string;
  readonly stream?: boolean;
  readonly body?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
}

interface Sent {
  readonly id: string;
  readonly text: string;
}

async function send(
  protocol: TextProtocol,
  { model = 'm', stream = false, body = {}, headers = {} }: Turn,
): Promise<Sent> {
  const whole = { ...protocol.body(model, stream), ...body };
  const response = await shared.gateway.post(protocol.path(model, stream), whole, headers);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return { id: response.headers.get('x-request-id') ?? '', text };
}

/** The different channels that answered these requests. */
async function channelsOf(sent: readonly Sent[]): Promise<string[]> {
  const rows = await shared.gateway.usage();
  const channels = sent.map(({ id }) => String(only(rows.filter((row) => row.id === id)).channel));
  return [...new Set(channels)].toSorted();
}

/** Sends `count` requests one after another; returns the channels that answered them. */
async function converse(protocol: TextProtocol, count: number, each: (at: number) => Turn) {
  const sent: Sent[] = [];
  for (let at = 0; at < count; at += 1) sent.push(await send(protocol, each(at)));
  return channelsOf(sent);
}

const [chat, responses, messages, generate] = textProtocols as [
  TextProtocol,
  TextProtocol,
  TextProtocol,
  TextProtocol,
];
const system = 'You are a careful assistant.';
const user = { role: 'user', content: 'hello' };

describe('requests of one conversation go to one channel', () => {
  test.concurrent.each<[string, TextProtocol, (session: string) => Turn]>([
    ['chat, by its cache key', chat, (id) => ({ body: { prompt_cache_key: id } })],
    ['responses, by its cache key', responses, (id) => ({ body: { prompt_cache_key: id } })],
    ['responses, by its session', responses, (id) => ({ headers: { session_id: id } })],
    ['messages, by its user', messages, (id) => ({ body: { metadata: { user_id: id } } })],
    [
      'messages, by its session',
      messages,
      (id) => ({ headers: { 'x-claude-code-session-id': id } }),
    ],
    [
      'generate-content, by a header',
      generate,
      (id) => ({ headers: { 'x-session-affinity': id } }),
    ],
    [
      'chat, by its system prompt',
      chat,
      (id) => ({ body: { messages: [{ role: 'system', content: system + id }, user] } }),
    ],
    [
      'responses, by its instructions',
      responses,
      (id) => ({ body: { instructions: system + id } }),
    ],
    ['messages, by its system prompt', messages, (id) => ({ body: { system: system + id } })],
    [
      'generate-content, by its system instruction',
      generate,
      (id) => ({ body: { systemInstruction: { parts: [{ text: system + id }] } } }),
    ],
  ])('%s', async (name, protocol, conversation) => {
    const one = await converse(protocol, 12, (at) => ({
      ...conversation(`${name} one`),
      stream: at % 2 === 1,
    }));
    expect(one).toHaveLength(1);
    const many = await converse(protocol, 40, (at) => conversation(`${name} ${at}`));
    expect(many).toEqual(names);
  });

  test('without a conversation the weights decide', async () => {
    expect(await converse(chat, 40, () => ({}))).toEqual(names);
  });

  test('concurrent requests of a conversation stay on one channel once the first one is in flight', async () => {
    const body = { prompt_cache_key: 'side by side' };
    await send(chat, { body });
    const all = await Promise.all(Array.from({ length: 12 }, () => send(chat, { body })));
    expect(await channelsOf(all)).toHaveLength(1);
  });
});

test.each([true, false])(
  'a conversation continues on the channel that gave the response (streamed: %s)',
  async (stream) => {
    for (let conversation = 0; conversation < 6; conversation += 1) {
      const input = `question ${conversation} ${stream}`;
      const first = await send(responses, { stream, body: { input } });
      const id = /"id":\s*"(resp_[\w-]+)"/.exec(first.text)?.[1];
      expect(id).toBeDefined();
      const next = { input: 'and then?', previous_response_id: id };
      const more = [0, 1, 2, 3].map(() => send(responses, { stream, body: next }));
      expect(await channelsOf([first, ...(await Promise.all(more))])).toHaveLength(1);
    }
  },
);

test('health takes precedence: no request waits for a failing channel, and conversations stay on the channel that replaced it', async () => {
  for (let at = 0; at < 20; at += 1) {
    const body = { prompt_cache_key: `partly ${at}` };
    const seen = await converse(chat, 4, () => ({ model: 'partly', body }));
    expect(seen).toHaveLength(1);
    expect(names).toContain(seen[0]);
  }
});
