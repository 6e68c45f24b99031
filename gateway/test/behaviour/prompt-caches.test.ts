import { expect, test } from 'vitest';
import { rowOf, shareGateway } from './support.ts';

/* Clients whose protocol has no marks of a prompt cache, at an upstream that caches at marks only. */

const cachePrice = 'input: 3, cache_read: 0.3, cache_write: 3.75, cache_write_1h: 6, output: 15';
const models = {
  cached: `{ ${cachePrice} }`,
  'switched-off': `{ ${cachePrice} }`,
  'short-only': '{ input: 3, cache_read: 0.3, cache_write: 3.75, output: 15 }',
  'no-cache-price': '{ input: 3, output: 15 }',
  'dear-cache': '{ input: 3, cache_read: 3, output: 15 }',
};

const channelOf = (name: string, more = '') =>
  `  - { name: ${name}, provider: simulator, base_url: SIMULATOR, protocols: [messages], models: [{ name: ${name}, upstream: prompt-cache-${name} }]${more} }`;

const shared = shareGateway({
  config: `
channels:
${Object.keys(models)
  .map((name) => channelOf(name, name === 'switched-off' ? ', cache: "off"' : ''))
  .join('\n')}
models:
${Object.entries(models)
  .map(([id, price]) => `  - { id: ${id}, type: chat, price: ${price} }`)
  .join('\n')}
`,
});

const long = (word: string) => `${word} `.repeat(Math.ceil(8_000 / (word.length + 1)));
const question = (turn: number) => `${turn}: ${'tell me more. '.repeat(40)}`;
const parameters = { type: 'object', properties: { city: { type: 'string' } } };

interface Said {
  readonly user: string;
  readonly model: string;
}

/** The request that continues a conversation with one more question, by the protocol of the client. */
const clients = {
  chat: (model: string, system: string, said: readonly Said[], next: string) => ({
    path: '/v1/chat/completions',
    body: {
      model,
      messages: [
        { role: 'system', content: system },
        ...said.flatMap(({ user, model: text }) => [
          { role: 'user', content: user },
          { role: 'assistant', content: text },
        ]),
        { role: 'user', content: next },
      ],
      tools: [{ type: 'function', function: { name: 'weather', parameters } }],
    },
  }),
  responses: (model: string, system: string, said: readonly Said[], next: string) => ({
    path: '/v1/responses',
    body: {
      model,
      store: false,
      instructions: system,
      input: [
        ...said.flatMap(({ user, model: text }) => [
          { role: 'user', content: user },
          { role: 'assistant', content: text },
        ]),
        { role: 'user', content: next },
      ],
    },
  }),
  'generate-content': (model: string, system: string, said: readonly Said[], next: string) => ({
    path: `/v1beta/models/${model}:generateContent`,
    body: {
      systemInstruction: { parts: [{ text: system }] },
      contents: [
        ...said.flatMap(({ user, model: text }) => [
          { role: 'user', parts: [{ text: user }] },
          { role: 'model', parts: [{ text }] },
        ]),
        { role: 'user', parts: [{ text: next }] },
      ],
    },
  }),
};

interface Tokens {
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly cache_write_1h: number;
}

async function ask({ path, body }: { readonly path: string; readonly body: object }) {
  shared.gateway.simulator.clear();
  const response = await shared.gateway.post(path, body);
  expect(response.status).toBe(200);
  await response.text();
  const row = await rowOf(shared.gateway, response.headers.get('x-request-id') ?? '');
  const [sent] = shared.gateway.simulator.requests();
  return { response, tokens: row.tokens as Tokens, cost: Number(row.cost), sent: sent!.body };
}

/** Ten turns; what each of them used, and what all of them cost. */
async function converse(client: keyof typeof clients, model: string) {
  const said: Said[] = [];
  const turns: Tokens[] = [];
  let cost = 0;
  for (let turn = 0; turn < 10; turn += 1) {
    const asked = await ask(clients[client](model, long(client), said, question(turn)));
    turns.push(asked.tokens);
    cost += asked.cost;
    said.push({ user: question(turn), model: `answer ${turn}` });
  }
  return { turns, cost };
}

const promptOf = ({ input, cache_read, cache_write }: Tokens) => input + cache_read + cache_write;

test.each(['chat', 'responses', 'generate-content'] as const)(
  '%s: each turn reads what the turn before it sent',
  async (client) => {
    const { turns, cost } = await converse(client, 'cached');
    expect(turns[0]).toMatchObject({ input: 0, cache_read: 0 });
    for (const [turn, tokens] of turns.entries()) {
      if (turn === 0) continue;
      expect(tokens.input).toBe(0);
      expect(tokens.cache_read).toBe(promptOf(turns[turn - 1]!));
    }
    const without = await converse(client, 'switched-off');
    expect(
      without.turns.every(({ cache_read, cache_write }) => cache_read + cache_write === 0),
    ).toBe(true);
    expect(without.turns.map(promptOf)).toEqual(turns.map(promptOf));
    expect(cost / without.cost).toBeLessThan(0.35);
  },
);

const marksIn = (body: string) => body.match(/"cache_control":\{[^}]*\}/g) ?? [];

test('a turn of more blocks than the vendor looks back over still reads the turn before it', async () => {
  const tools = [{ type: 'function', function: { name: 'weather', parameters } }];
  const first = [
    { role: 'system', content: long('weather') },
    { role: 'user', content: 'how is it everywhere?' },
  ];
  const before = await ask({
    path: '/v1/chat/completions',
    body: { model: 'cached', messages: first, tools },
  });
  const ids = Array.from({ length: 15 }, (_, at) => `call_${at}`);
  const calls = ids.map((id) => ({
    id,
    type: 'function',
    function: { name: 'weather', arguments: '{"city":"x"}' },
  }));
  const results = ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'sunny' }));
  const messages = [...first, { role: 'assistant', content: null, tool_calls: calls }, ...results];
  const after = await ask({
    path: '/v1/chat/completions',
    body: { model: 'cached', messages, tools },
  });
  expect(after.tokens.cache_read).toBe(promptOf(before.tokens));
  expect(marksIn(after.sent)).toHaveLength(3);
});

test.each<[string, string, object, readonly string[]]>([
  ['the default', 'cached', {}, ['{"type":"ephemeral"}', '{"type":"ephemeral"}']],
  [
    'a short lifetime',
    'cached',
    { prompt_cache_retention: 'in_memory' },
    ['{"type":"ephemeral"}', '{"type":"ephemeral"}'],
  ],
  [
    'a long lifetime',
    'cached',
    { prompt_cache_retention: '24h', prompt_cache_key: 'k' },
    ['{"type":"ephemeral","ttl":"1h"}', '{"type":"ephemeral","ttl":"1h"}'],
  ],
  [
    'a long lifetime without a price of its own',
    'short-only',
    { prompt_cache_retention: '24h' },
    ['{"type":"ephemeral"}', '{"type":"ephemeral"}'],
  ],
  ['a channel that is switched off', 'switched-off', { prompt_cache_retention: '24h' }, []],
  ['a price without caches', 'no-cache-price', {}, []],
  ['a price at which reading saves nothing', 'dear-cache', {}, []],
])('%s', async (name, model, more, marks) => {
  const { path, body } = clients.chat(model, long(name), [], 'hi');
  const { sent, response } = await ask({ path, body: { ...body, ...more } });
  expect(marksIn(sent)).toEqual(marks.map((mark) => `"cache_control":${mark}`));
  const lost = response.headers.get('x-sluice-conversion') ?? '';
  expect(lost.includes('cache')).toBe(marks.length === 0 && Object.keys(more).length > 0);
});

test('a prompt that is too short for a cache gets no marks', async () => {
  const { sent } = await ask(clients.responses('cached', 'Be brief.', [], 'hi'));
  expect(marksIn(sent)).toEqual([]);
});

test('the marks of the client are the only ones', async () => {
  const { path, body } = clients.chat('cached', 'x', [], 'hi');
  const content = [{ type: 'text', text: long('own'), cache_control: { type: 'ephemeral' } }];
  const { sent } = await ask({
    path,
    body: { ...body, messages: [{ role: 'system', content }, ...body.messages.slice(1)] },
  });
  expect(marksIn(sent)).toHaveLength(1);
});

test('a messages client decides for itself', async () => {
  const body = {
    model: 'cached',
    max_tokens: 100,
    system: long('native'),
    messages: [{ role: 'user', content: 'hi' }],
  };
  const { sent } = await ask({ path: '/v1/messages', body });
  expect(marksIn(sent)).toEqual([]);
});
