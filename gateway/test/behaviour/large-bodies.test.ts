import { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testKey, type TestGateway } from '../support/gateway.ts';
import { answerWith, startOwnUpstream } from '../support/own-upstream.ts';
import { longestTurn } from '../support/longest-turn.ts';
import { describeServed, onePerProtocol } from '../matrix/gateway.ts';
import { describeChannels, only, openGateway, openTcpServer, sendRaw, until } from './support.ts';
import { type TextProtocol, textProtocols } from './text-protocols.ts';

/* Bodies that are read, patched and converted in threads: a client cannot distinguish them from small ones. */

const mebibyte = 2 ** 20;
const [chat] = textProtocols;
const words = (bytes: number): string => 'lorem ipsum '.repeat(Math.ceil(bytes / 12));

describe.each(textProtocols)('a client of $name', (client) => {
  test('gets its response from each protocol, streamed and whole', async () => {
    const gateway = await openGateway({ config: onePerProtocol });
    for (const bytes of [300_000, 1_500_000]) {
      for (const upstream of textProtocols) {
        for (const stream of [false, true]) {
          const model = `at-${upstream.name}`;
          const body = client.body(model, stream, words(bytes));
          const response = await gateway.post(client.path(model, stream), body);
          const text = await response.text();
          expect([response.status, response.status === 200 ? '' : text]).toEqual([200, '']);
          if (stream) expect(text).toMatch(client.terminator);
        }
      }
    }
    const rows = await gateway.usage();
    expect(rows).toHaveLength(16);
    expect(rows.every(({ outcome }) => outcome === 'completed')).toBe(true);
  }, 60_000);
});

const repeated = (text: string, count: number): string =>
  Array.from({ length: count }, () => text).join();

/** The content of one message in many parts, as each protocol writes it in place of a text. */
const inParts: Record<TextProtocol['name'], (count: number) => [whole: string, parts: string]> = {
  chat: (count) => ['"MANY"', `[${repeated('{"type":"text","text":"a"}', count)}]`],
  responses: (count) => [
    '"MANY"',
    `[{"role":"user","content":[${repeated('{"type":"input_text","text":"a"}', count)}]}]`,
  ],
  messages: (count) => ['"MANY"', `[${repeated('{"type":"text","text":"a"}', count)}]`],
  'generate-content': (count) => ['{"text":"MANY"}', repeated('{"text":"a"}', count)],
};

test.each(textProtocols)(
  'a client of $name: short bodies of many values',
  async (client) => {
    const gateway = await openGateway({ config: onePerProtocol });
    const [whole, parts] = inParts[client.name](4_000);
    for (const upstream of textProtocols) {
      const model = `at-${upstream.name}`;
      const sent = JSON.stringify(client.body(model, false, 'MANY')).replace(whole, parts);
      expect(sent.length).toBeGreaterThan(parts.length);
      const response = await gateway.post(client.path(model, false), sent);
      const text = await response.text();
      expect([response.status, response.status === 200 ? '' : text]).toEqual([200, '']);
    }
  },
  60_000,
);

test('the upstream receives the original bytes except for patches', async () => {
  const upstream = await startOwnUpstream();
  onTestFinished(() => upstream.close());
  upstream.answer = answerWith({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 });
  const channel = (name: string, model: string) => ({
    name,
    at: upstream.url,
    models: [model],
    protocols: ['chat'],
  });
  const gateway = await openGateway({
    config: describeChannels([channel('same', 'same'), channel('mapped', 'mapped -> up')]),
  });
  const text = words(2 * mebibyte);
  for (const model of ['same', 'mapped']) {
    const response = await gateway.post(
      '/v1/chat/completions',
      `{"model": "${model}","messages":[{"role":"user","content":"${text}"}],"seed":12345678901234567890}`,
    );
    expect(response.status).toBe(200);
    await response.text();
  }
  expect(upstream.asked.map(({ body }) => body['model'])).toEqual(['same', 'up']);
});

test('another channel of either protocol is tried when one fails', async () => {
  const failing = { at: '/fault(status=500)' };
  const gateway = await openGateway({
    config: describeServed([
      {
        name: 'own',
        protocols: ['chat'],
        models: [['m', 'demo-chat']],
        ...failing,
        more: { priority: 3 },
      },
      {
        name: 'foreign',
        protocols: ['messages'],
        models: [['m', 'demo-chat']],
        ...failing,
        more: { priority: 2 },
      },
      { name: 'last', protocols: ['chat'], models: [['m', 'demo-chat']], more: { priority: 1 } },
    ]),
  });
  for (const bytes of [400_000, 2 * mebibyte]) {
    const response = await gateway.post(
      '/v1/chat/completions',
      chat!.body('m', false, words(bytes)),
    );
    expect(response.status).toBe(200);
    await response.text();
  }
  for (const { attempts } of await gateway.usage()) {
    expect(attempts).toHaveLength(3);
    expect(attempts).toMatchObject([{ status: 500 }, { status: 500 }, { status: 200 }]);
  }
});

test.each([400_000, 2 * mebibyte])(
  'a strict key is refused a lossy conversion (%d bytes)',
  async (bytes) => {
    const secret = 'sk-strict-0123456789abcdefghijklmnopqrstuv';
    const gateway = await openGateway({
      config: `${onePerProtocol}
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: strict, user: tester@example.com, secret: ${secret}, conversion: strict }]`,
    });
    const response = await gateway.post(
      '/v1/chat/completions',
      { ...chat!.body('at-messages', false, words(bytes)), seed: 1 },
      { authorization: `Bearer ${secret}` },
    );
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'seed' } });
    expect(only(await gateway.usage())).toMatchObject({ outcome: 'refused', status: 400 });
  },
);

test('refusals are those of small bodies, in the same order', async () => {
  const gateway = await openGateway({ config: onePerProtocol });
  const filler = words(2 * mebibyte);
  const ask = async (body: object | string) => {
    const response = await gateway.post('/v1/chat/completions', body);
    return [
      response.status,
      ((await response.json()) as { error: { message: string } }).error.message,
    ];
  };
  const refused: readonly (readonly [object, string])[] = [
    [{ model: 'nobody', n: -1 }, "model 'nobody' is not available, please use a different model"],
    [{ model: 'at-chat', x: 1 }, 'messages is required'],
    [{ messages: [] }, 'model is required'],
    [{ model: 'at-messages', messages: [{ role: 'wizard', content: '' }] }, ''],
  ];
  for (const [body, message] of refused) {
    const small = await ask(body);
    expect(await ask({ ...body, filler })).toEqual(small);
    if (message !== '') expect(small).toEqual([400, message]);
  }
  expect(await ask(`{"model":"at-chat","filler":"${filler}"`)).toEqual([
    400,
    'invalid request body',
  ]);
});

test('token counts are the same', async () => {
  const gateway = await openGateway({ config: onePerProtocol });
  for (const upstream of ['messages', 'generate-content', 'chat']) {
    const { max_tokens: _, ...body } = textProtocols[2]!.body(
      `at-${upstream}`,
      false,
      words(1_200_000),
    );
    const response = await gateway.post('/v1/messages/count_tokens', body);
    expect(response.status).toBe(200);
    const { input_tokens: tokens } = (await response.json()) as { input_tokens: number };
    expect(tokens).toBeGreaterThan(200_000);
  }
});

/** An upstream that reads nothing of a request and answers at its end: what it costs is not measured. */
async function deafUpstream(): Promise<string> {
  return openTcpServer((socket: Socket) => {
    let length = 0;
    let wanted = 0;
    socket.on('data', (chunk: Buffer) => {
      if (wanted === 0) {
        const head = chunk.toString('latin1', 0, 4096);
        wanted = head.indexOf('\r\n\r\n') + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1]);
      }
      length += chunk.length;
      if (length < wanted) return;
      length = wanted = 0;
      const response = JSON.stringify({
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'text', text: 'hello' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 1, output_tokens: 1 },
      });
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${response.length}\r\n\r\n${response}`,
      );
    });
  });
}

const deafGateway = async () =>
  openGateway({
    config: describeChannels([
      { name: 'deaf', at: await deafUpstream(), models: ['m'], protocols: ['messages'] },
      { name: 'sim', models: ['demo-chat'] },
    ]),
  });

/** Posts bytes that are there already, and gives the response's head. */
async function postBytes({ url }: TestGateway, body: Buffer): Promise<string> {
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testKey}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  const client = await sendRaw(url, head);
  client.socket.write(body);
  await until(() => client.received().includes('\r\n\r\n'), 'a response', 30_000);
  return client.received();
}

const history = (bytes: number): string =>
  Array.from(
    { length: bytes / 1024 },
    (_, at) => `{"role":"${at % 2 === 0 ? 'user' : 'assistant'}","content":"${words(960)}"}`,
  ).join(',');

const hostile: readonly (readonly [string, () => string, status: number])[] = [
  ['10 MB of conversation', () => `{"model":"m","messages":[${history(10 * mebibyte)}]}`, 200],
  [
    '30 MB of calls whose arguments are lists in lists',
    () => {
      const call = `{"id":"c","type":"function","function":{"name":"f","arguments":"${'['.repeat(500)}${']'.repeat(500)}"}}`;
      const calls = Array.from({ length: 25_000 }, () => call).join(',');
      return `{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[${calls}]}]}`;
    },
    0,
  ],
];

test.each(hostile)(
  '%s delay nobody',
  async (_, make, status) => {
    const gateway = await deafGateway();
    const body = Buffer.from(make());
    // One-time compilation and start-up are not measured.
    await postBytes(gateway, Buffer.from(`{"model":"m","messages":[${history(2 * mebibyte)}]}`));
    const state = { head: '', isOver: false };
    const longest = await longestTurn(async () => {
      const answered = postBytes(gateway, body).then((text) => {
        state.head = text;
        state.isOver = true;
      });
      while (!state.isOver) {
        const other = await gateway.post('/v1/chat/completions', chat!.body('demo-chat', false));
        expect(other.status).toBe(200);
        await other.text();
      }
      await answered;
    });
    if (status !== 0) expect(state.head).toContain(`HTTP/1.1 ${status}`);
    expect(longest).toBeLessThan(250);
  },
  90_000,
);
