import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowOf, until } from '../behaviour/support.ts';
import { textProtocols, type TextProtocol } from '../behaviour/text-protocols.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  answerWith,
  startOwnUpstream,
  usageAt,
  type OwnUpstream,
} from '../support/own-upstream.ts';
import { balanceOf, nanoOf } from './books.ts';

/*
 * Never far below zero: with little money left a request asks for no more than that pays for, a stream that passes its
 * hold draws more first, and it is ended when nothing is left.
 */

/** 0.001 USD per thousand tokens that go in, 0.002 for those that come out: in nano-USD per token. */
const [inputPrice, outputPrice] = [1_000n, 2_000n];
const price = 'price: { input: 1, output: 2 }';
const allProtocols = 'protocols: [chat, responses, messages, generate-content]';

/** Each test has a user of its own. */
const balances = {
  capped: '1000',
  little: '0.02',
  crumbs: '0.011',
  uncapped: '0.02',
  liar: '0.01',
  liars: '0.01',
  rich: '100',
} as const;
type Name =
  | keyof typeof balances
  | `${'' | 'poor-'}${TextProtocol['name']}`
  | `${TextProtocol['name']}-converted`;

const secretOf = (name: string): string => `sk-${name}-${'0123456789'.repeat(4)}`;
const protocolNames = textProtocols.map(({ name }) => name);
const users: Record<string, string> = {
  ...balances,
  ...Object.fromEntries(
    protocolNames.flatMap((name) => [
      [name, '0.02'],
      [`${name}-converted`, '0.02'],
      [`poor-${name}`, '0.02'],
    ]),
  ),
};

let gateway: TestGateway;
let upstream: OwnUpstream;
beforeAll(async () => {
  upstream = await startOwnUpstream();
  const names = Object.keys(users);
  gateway = await startTestGateway({
    config: `
channels:
  - { name: own, provider: simulator, base_url: "${upstream.url}", ${allProtocols}, models: [own, open] }
${protocolNames.map((name) => `  - { name: only-${name}, provider: simulator, base_url: "${upstream.url}", protocols: [${name}], models: [only-${name}] }`).join('\n')}
models:
  - { id: own, type: chat, context_window: 1000000, max_output_tokens: 200000, ${price} }
  - { id: open, type: chat, ${price} }
${protocolNames.map((name) => `  - { id: only-${name}, type: chat, context_window: 1000000, max_output_tokens: 200000, ${price} }`).join('\n')}
users:
${names.map((name) => `  - { email: ${name}@example.com, balance: ${users[name]} }`).join('\n')}
keys:
${names.map((name) => `  - { name: ${name}, user: ${name}@example.com, secret: ${secretOf(name)}${name === 'uncapped' ? ', cap_output: false' : ''} }`).join('\n')}
`,
  });
});
afterAll(async () => {
  await gateway?.close();
  await upstream?.close();
});

async function askAs(name: Name, path: string, body: object) {
  upstream.clear();
  const text = JSON.stringify(body);
  const response = await gateway.post(path, text, { authorization: `Bearer ${secretOf(name)}` });
  const answer = await response.text();
  const id = response.headers.get('x-request-id') ?? '';
  return {
    id,
    status: response.status,
    answer,
    rewrites: response.headers.get('x-sluice-rewrites'),
    asked: upstream.asked.at(-1)?.body ?? {},
    bytes: Buffer.byteLength(text),
  };
}

const left = (name: Name): Promise<bigint> => balanceOf(gateway, `${name}@example.com`);

/** What 0.02 USD pays for beside the estimated input. */
const affordable = (bytes: number, money = 20_000_000n): number =>
  Number((money - BigInt(Math.ceil(bytes / 4)) * inputPrice) / outputPrice);

const limitIn = (asked: Record<string, unknown>): unknown =>
  asked['max_tokens'] ??
  asked['max_completion_tokens'] ??
  asked['max_output_tokens'] ??
  (asked['generationConfig'] as Record<string, unknown> | undefined)?.['maxOutputTokens'];

const withLimit = (protocol: TextProtocol, model: string, limit: number): object => {
  const body = protocol.body(model, false);
  switch (protocol.name) {
    case 'chat':
      return { ...body, max_completion_tokens: limit };
    case 'responses':
      return { ...body, max_output_tokens: limit };
    case 'messages':
      return { ...body, max_tokens: limit };
    case 'generate-content':
      return { ...body, generationConfig: { temperature: 0.5, maxOutputTokens: limit } };
  }
};

describe.each(textProtocols)('$name', (protocol) => {
  test('the client’s own limit is lowered to what is left, recorded as m1', async () => {
    upstream.answer = answerWith(usageAt(protocol.path('own', false), 0, 0));
    const body = withLimit(protocol, 'own', 100_000);
    const { status, asked, rewrites, bytes, id } = await askAs(
      protocol.name,
      protocol.path('own', false),
      body,
    );
    const limit = affordable(bytes);
    expect([status, limitIn(asked)]).toEqual([200, limit]);
    expect(rewrites?.split(',')).toContain('m1');
    expect((await rowOf(gateway, id)).rewrites).toContain('m1');
    const lowered = JSON.parse(JSON.stringify(body).replace('100000', String(limit)));
    expect({ ...asked, model: 'own' }).toEqual({ ...lowered, model: 'own' });
  });

  test('a request without a limit gets one, and so does a smaller one nothing', async () => {
    upstream.answer = answerWith(usageAt(protocol.path('own', false), 0, 0));
    const without = await askAs(
      protocol.name,
      protocol.path('own', false),
      protocol.body('own', false),
    );
    // Messages requires a limit, and this one is within what is left.
    if (protocol.name === 'messages')
      expect([limitIn(without.asked), without.rewrites]).toEqual([1000, null]);
    else {
      expect(limitIn(without.asked)).toBe(affordable(without.bytes));
      expect(without.rewrites).toBe('m1');
    }
    const small = await askAs(
      protocol.name,
      protocol.path('own', false),
      withLimit(protocol, 'own', 500),
    );
    expect([limitIn(small.asked), small.rewrites]).toEqual([500, null]);
  });

  test('a converted request is lowered too', async () => {
    for (const spoken of protocolNames.filter((name) => name !== protocol.name)) {
      const model = `only-${spoken}`;
      upstream.answer = (request, response) =>
        answerWith(usageAt(request.path, 0, 0))(request, response);
      const { status, asked, rewrites, bytes } = await askAs(
        `${protocol.name}-converted`,
        protocol.path(model, false),
        withLimit(protocol, model, 100_000),
      );
      expect([status, limitIn(asked)]).toEqual([200, affordable(bytes)]);
      expect(rewrites?.split(',')).toContain('m1');
    }
  });

  test('with enough money nothing is changed', async () => {
    upstream.answer = answerWith(usageAt(protocol.path('own', false), 0, 0));
    const { asked, rewrites } = await askAs(
      'capped',
      protocol.path('own', false),
      withLimit(protocol, 'own', 100_000),
    );
    expect([limitIn(asked), rewrites]).toEqual([100_000, null]);
  });
});

const chatPath = '/v1/chat/completions';
const chat = (more: object, model = 'own'): object => ({
  model,
  messages: [{ role: 'user', content: 'hello' }],
  ...more,
});
const free = answerWith(usageAt(chatPath, 0, 0));

test('choices share what is left', async () => {
  upstream.answer = free;
  const { asked, bytes } = await askAs('little', chatPath, chat({ max_tokens: 100_000, n: 4 }));
  expect(asked['max_tokens']).toBe(Math.floor(affordable(bytes) / 4));
});

test('never to or below a thinking budget: then the request goes as it came', async () => {
  upstream.answer = free;
  for (const thinking of [
    { thinking: { type: 'enabled', budget_tokens: 90_000 } },
    { reasoning: { max_tokens: 90_000 } },
    { thinking_budget: 90_000 },
  ]) {
    const { asked, rewrites } = await askAs(
      'little',
      chatPath,
      chat({ max_tokens: 100_000, ...thinking }),
    );
    expect([asked['max_tokens'], rewrites]).toEqual([100_000, null]);
  }
  upstream.answer = answerWith(usageAt('/v1/messages', 0, 0));
  const { asked } = await askAs('little', '/v1/messages', {
    ...chat({ max_tokens: 100_000, thinking: { type: 'enabled', budget_tokens: 50_000 } }),
  });
  expect(asked['max_tokens']).toBe(100_000);
  const { asked: exceeding } = await askAs('little', '/v1/messages', {
    ...chat({ max_tokens: 100_000, thinking: { type: 'enabled', budget_tokens: 2_000 } }),
  });
  expect(exceeding['max_tokens']).toBeLessThan(10_000);
  expect(exceeding['max_tokens']).toBeGreaterThan(2_000);
});

test('never below 256 tokens', async () => {
  upstream.answer = free;
  const content = 'x'.repeat(43_000);
  const { asked, rewrites } = await askAs('crumbs', chatPath, {
    ...chat({ max_tokens: 100_000 }),
    messages: [{ role: 'user', content }],
  });
  expect([asked['max_tokens'], rewrites]).toEqual([100_000, null]);
});

test('a key can switch it off', async () => {
  upstream.answer = free;
  const { asked, rewrites } = await askAs('uncapped', chatPath, chat({ max_tokens: 100_000 }));
  expect([asked['max_tokens'], rewrites]).toEqual([100_000, null]);
});

test('the configuration can switch it off for everybody', async () => {
  const uncapped = await startTestGateway({
    config: `
billing: { cap_output: false }
channels:
  - { name: own, provider: simulator, base_url: "${upstream.url}", ${allProtocols}, models: [own] }
models:
  - { id: own, type: chat, context_window: 1000000, max_output_tokens: 200000, ${price} }
users: [{ email: ada@example.com, balance: 0.02 }]
keys: [{ name: ada, user: ada@example.com, secret: ${secretOf('ada')} }]
`,
  });
  upstream.clear();
  upstream.answer = free;
  const body = JSON.stringify(chat({ max_tokens: 100_000 }));
  const headers = { authorization: `Bearer ${secretOf('ada')}` };
  const response = await uncapped.post(chatPath, body, headers);
  await response.text();
  await uncapped.close();
  expect(response.headers.get('x-sluice-rewrites')).toBeNull();
  expect(upstream.asked.at(-1)?.body?.['max_tokens']).toBe(100_000);
});

test('an upstream that reports millions of tokens for the last cent costs that cent', async () => {
  upstream.answer = answerWith(usageAt(chatPath, 100, 9_900_000));
  const { id } = await askAs('liar', chatPath, chat({ max_tokens: 100 }, 'open'));
  // It was not short of money for so few tokens.
  expect(nanoOf((await rowOf(gateway, id)).cost)).toBeLessThanOrEqual(10_000_000n);
  expect(await left('liar')).toBeGreaterThanOrEqual(0n);

  const { id: long } = await askAs('liars', chatPath, chat({}, 'open'));
  expect(nanoOf((await rowOf(gateway, long)).cost)).toBe(10_000_000n);
  expect(await left('liars')).toBe(0n);

  upstream.answer = answerWith(usageAt(chatPath, 9_900_000, 5));
  const { id: wide } = await askAs('crumbs', chatPath, chat({}, 'open'));
  expect(nanoOf((await rowOf(gateway, wide)).cost)).toBe(11_000_000n);
});

const piece = (text: string): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content: text }, finish_reason: null }] })}\n\n`;

const streamEnd =
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":100000}}\n\ndata: [DONE]\n\n';

test('a stream that passes its hold draws more, and completes', async () => {
  const bytes = 400_000;
  upstream.answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let at = 0; at < bytes; at += 1_000) response.write(piece('x'.repeat(1_000)));
    // What is over at once is charged above its hold: nobody waits for a draw.
    setTimeout(() => response.end(streamEnd), 500);
  };
  const { id, answer } = await askAs('rich', chatPath, chat({ stream: true }, 'open'));
  expect(answer).toContain('[DONE]');
  const row = await rowOf(gateway, id);
  expect(row.outcome).toBe('completed');
  expect(nanoOf(row.cost)).toBe(10n * inputPrice + 100_000n * outputPrice);
  const { held, overshoot } = await gateway.app.database.kysely
    .selectFrom('usage')
    .select(['held', 'overshoot'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  expect(held).toBeGreaterThanOrEqual(nanoOf(row.cost));
  expect(overshoot ?? 0n).toBe(0n);
  expect(await left('rich')).toBe(100_000_000_000n - nanoOf(row.cost));
});

/** The beginning of a stream, and a piece of its text, of each protocol. */
const streams: Readonly<Record<TextProtocol['name'], { begin: string; piece: string }>> = {
  chat: { begin: '', piece: piece('TEXT') },
  responses: {
    begin: [
      `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}}`,
      `{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}`,
      `{"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}`,
    ]
      .map((json) => namedEvent(json))
      .join(''),
    piece: namedEvent(
      `{"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"TEXT"}`,
    ),
  },
  messages: {
    begin: [
      `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":10,"output_tokens":1}}}`,
      `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
    ]
      .map((json) => namedEvent(json))
      .join(''),
    piece: namedEvent(
      `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"TEXT"}}`,
    ),
  },
  'generate-content': {
    begin: '',
    piece: `data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"TEXT"}]}}]}\n\n`,
  },
};

function namedEvent(json: string): string {
  const { type } = JSON.parse(json) as { type: string };
  return `event: ${type}\ndata: ${json}\n\n`;
}

test.each(textProtocols)(
  '$name: one that passes all that is left is ended with an error, and charged',
  async (protocol) => {
    const name = `poor-${protocol.name}` as const;
    const { begin, piece: pattern } = streams[protocol.name];
    const text = pattern.replace('TEXT', 'x'.repeat(1_000));
    let sent = 0;
    let isOver = false;
    upstream.answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(begin);
      response.on('close', () => (isOver = true));
      const timer = setInterval(() => {
        if (isOver || sent > 5_000_000) return clearInterval(timer);
        for (let each = 0; each < 20; each += 1) response.write(text);
        sent += 20_000;
      }, 5);
    };
    const model = protocol.name === 'messages' ? 'own' : 'open';
    const body = {
      ...protocol.body(model, true),
      ...(protocol.name === 'messages' && {
        max_tokens: 150_000,
        thinking: { type: 'enabled', budget_tokens: 140_000 },
      }),
    };
    const { id, answer } = await askAs(name, protocol.path(model, true), body);
    expect(answer).toContain('insufficient balance');
    expect(answer).not.toMatch(/\[DONE\]|message_stop|response\.completed|finishReason/);
    await until(() => isOver, 'the upstream is cancelled');
    const row = await rowOf(gateway, id);
    expect(row.outcome).toBe('client-left');
    // 0.02 that were left, and 0.05 of overshoot: 35 000 tokens, 140 000 bytes.
    expect(sent).toBeGreaterThan(130_000);
    expect(sent).toBeLessThan(600_000);
    expect(nanoOf(row.cost)).toBe(20_000_000n);
    expect(await left(name)).toBe(0n);
  },
);
