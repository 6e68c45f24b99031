import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { rawPost, sendRaw, until } from '../behaviour/support.ts';
import { textProtocols, type TextProtocol } from '../behaviour/text-protocols.ts';
import { testKey } from '../support/gateway.ts';
import { usageAt, type Asked } from '../support/own-upstream.ts';
import { assertBilledExactly, shareBilledGateway } from './billed-gateway.ts';
import { keyQuota, nanoOf } from './books.ts';

/* Service tiers, fast modes, regions and searches: refused, held and charged as their prices say. */

const poor = 'sk-poor-0123456789abcdefghijklmnopqrstuv';

const price = 'input: 1000, output: 2000';
const multipliers = '{ service_tier.priority: 2, speed.fast: 6, inference_geo.us: 1.1 }';
const limits = 'context_window: 4000, max_output_tokens: 1000, capabilities: [hosted_tools]';
const model = (id: string, more: string) => `  - { id: ${id}, type: chat, ${limits}, ${more} }`;
const channel = (name: string, protocols: string, models: string) =>
  `  - { name: ${name}, provider: openai-compatible, base_url: "UPSTREAM", protocols: [${protocols}], models: [${models}] }`;
const vendor = (provider: string) =>
  `  - { name: ${provider}, provider: ${provider}, base_url: "UPSTREAM", api_key: k, models: [priced, plain, allowed] }`;

const shared = shareBilledGateway({
  balance: 1_000_000,
  channels: [
    channel('own', 'chat, responses', 'priced, plain, allowed'),
    vendor('anthropic'),
    vendor('gemini'),
    channel('only-chat', 'chat', 'converted'),
  ].join('\n'),
  models: [],
  moreModels: [
    model('priced', `price: { ${price}, multipliers: ${multipliers}, fees: { web_search: 0.01 } }`),
    model('plain', `price: { ${price} }`),
    model('allowed', `allow: [service_tier.priority, speed.fast], price: { ${price} }`),
    model('converted', `price: { ${price} }`),
  ].join('\n'),
  moreUsers: '  - { email: poor@example.com, balance: 5 }',
  moreKeys: `  - { name: poor, user: poor@example.com, secret: ${poor} }`,
});

interface Reported {
  readonly tier?: string;
  /** Of messages. */
  readonly speed?: string;
  readonly geo?: string;
  readonly searches?: number;
}

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const event = (type: string, more: object): string => `event: ${type}\n${data({ type, ...more })}`;

/** Answers of 100 tokens for 10, which report this where each protocol does. */
function answer({ tier, speed, geo, searches = 0 }: Reported) {
  return ({ path, body }: Asked, response: Parameters<typeof shared.upstream.answer>[1]): void => {
    const stream = body['stream'] === true || path.includes(':stream');
    const usage = usageAt(path, 100, 10);
    const found = (item: unknown): unknown[] => Array.from({ length: searches }, () => item);
    let whole: object;
    let events: string;
    if (path.endsWith('/chat/completions')) {
      const base = { id: 'c', model: 'm', service_tier: tier };
      const annotations = found({
        type: 'url_citation',
        url_citation: { url: 'https://a.example' },
      });
      const message = { role: 'assistant', content: 'so', annotations };
      const choice = (part: object, finish: string | null) => ({
        choices: [{ index: 0, ...part, finish_reason: finish }],
      });
      whole = { ...base, ...choice({ message }, 'stop'), usage };
      events =
        data({ ...base, ...choice({ delta: message }, null) }) +
        data({ ...base, ...choice({ delta: {} }, 'stop') }) +
        data({ ...base, choices: [], usage }) +
        'data: [DONE]\n\n';
    } else if (path.endsWith('/responses')) {
      const text = { type: 'output_text', text: 'so', annotations: [] };
      const message = { id: 'i', type: 'message', role: 'assistant', status: 'completed' };
      const search = { id: 's', type: 'web_search_call', action: { type: 'search', query: 'x' } };
      const open = { id: 'o', type: 'web_search_call', action: { type: 'open_page', url: 'x' } };
      const items = [...found(search), open, { ...message, content: [text] }];
      const base = { id: 'r', object: 'response', created_at: 1, model: 'm', output: items };
      whole = { ...base, status: 'completed', service_tier: tier, usage };
      events =
        event('response.created', { response: { ...base, output: [], service_tier: 'auto' } }) +
        items
          .map((item, at) => event('response.output_item.done', { output_index: at, item }))
          .join('') +
        event('response.output_text.delta', { item_id: 'i', output_index: 9, delta: 'so' }) +
        event('response.completed', { response: { ...whole, output: [] } });
    } else if (path.endsWith('/messages')) {
      const reported = {
        ...usage,
        service_tier: tier,
        speed,
        inference_geo: geo,
        server_tool_use: { web_search_requests: searches },
      };
      const base = { id: 'm', type: 'message', role: 'assistant', model: 'm' };
      whole = {
        ...base,
        content: [{ type: 'text', text: 'so' }],
        stop_reason: 'end_turn',
        usage: reported,
      };
      const delta = { type: 'text_delta', text: 'so' };
      events =
        event('message_start', {
          message: { ...base, content: [], usage: { input_tokens: 100, output_tokens: 1 } },
        }) +
        event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
        event('content_block_delta', { index: 0, delta }) +
        event('content_block_stop', { index: 0 }) +
        event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: reported }) +
        event('message_stop', {});
    } else {
      whole = {
        candidates: [
          {
            content: { role: 'model', parts: [{ text: 'so' }] },
            finishReason: 'STOP',
            groundingMetadata: { webSearchQueries: ['', ...found('weather')] },
          },
        ],
        usageMetadata: { ...usage, serviceTier: tier },
      };
      events = data(whole);
    }
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
    response.end(stream ? events : JSON.stringify(whole));
  };
}

async function receiptOf(response: Response) {
  await response.text();
  expect(response.status).toBe(200);
  await shared.gateway.usage();
  const id = response.headers.get('x-request-id') ?? '';
  const { receipt, cost } = await shared.gateway.app.database.kysely
    .selectFrom('usage')
    .select(['receipt', 'cost'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const items = JSON.parse(receipt ?? '[]') as { part: string; quantity: number; rate: string }[];
  return { parts: Object.fromEntries(items.map((item) => [item.part, item.quantity])), cost };
}

const tierField = ({ name }: TextProtocol) =>
  name === 'generate-content' ? 'serviceTier' : 'service_tier';

function ask(protocol: TextProtocol, name: string, stream: boolean, more: object, headers = {}) {
  shared.upstream.clear();
  const body = { ...protocol.body(name, stream), ...more };
  return shared.gateway.post(protocol.path(name, stream), body, headers);
}

const searchTools: Record<TextProtocol['name'], object> = {
  chat: { web_search_options: {} },
  responses: { tools: [{ type: 'web_search' }] },
  messages: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
  'generate-content': { tools: [{ googleSearch: {} }] },
};

/** 100 of input at 0.001, 10 of output at 0.002. */
const base = 120_000_000n;

describe.each(textProtocols)('$name', (protocol) => {
  // Priority of messages is paid for beforehand and costs nothing more.
  const dear =
    protocol.name === 'messages' ? { speed: 'fast' } : { [tierField(protocol)]: 'priority' };
  const [field = ''] = Object.keys(dear);
  const term = protocol.name === 'messages' ? 'speed.fast' : 'service_tier.priority';
  const reported = protocol.name === 'messages' ? { speed: 'fast' } : { tier: 'priority' };
  const times = protocol.name === 'messages' ? 6n : 2n;

  test('an unpriced surcharge is refused by name, and no upstream is called', async () => {
    const response = await ask(protocol, 'plain', false, dear);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(field === 'serviceTier' ? 'service_tier' : field);
    expect(shared.upstream.asked).toEqual([]);
  });

  test.each([true, false])('streamed: %s; charged as the answer reports', async (stream) => {
    shared.upstream.answer = answer(reported);
    const dearer = await receiptOf(await ask(protocol, 'priced', stream, dear));
    expect(dearer.parts).toEqual({ [`input@${term}`]: 100, [`output@${term}`]: 10 });
    expect(dearer.cost).toBe(base * times);
    // Asked for and not granted; and granted without being asked for.
    shared.upstream.answer = answer({ tier: 'default' });
    const ordinary = await receiptOf(await ask(protocol, 'priced', stream, dear));
    expect(ordinary).toEqual({ parts: { input: 100, output: 10 }, cost: base });
    shared.upstream.answer = answer(reported);
    expect((await receiptOf(await ask(protocol, 'priced', stream, {}))).cost).toBe(base * times);
  });

  test.each([true, false])('streamed: %s; searches are charged separately', async (stream) => {
    const searches = protocol.name === 'chat' ? 1 : 3;
    shared.upstream.answer = answer({ searches });
    const tools = searchTools[protocol.name];
    const { parts, cost } = await receiptOf(await ask(protocol, 'priced', stream, tools));
    expect(parts).toEqual({ input: 100, output: 10, 'fees.web_search': searches });
    expect(cost).toBe(base + BigInt(searches) * 10_000_000n);
    const plain = await receiptOf(await ask(protocol, 'plain', stream, tools));
    expect(plain).toEqual({
      parts: { input: 100, output: 10, 'unpriced.web_search': searches },
      cost: base,
    });
  });

  test('a surcharge that the model allows passes, at no more than the price', async () => {
    shared.upstream.answer = answer(reported);
    expect(await receiptOf(await ask(protocol, 'allowed', false, dear))).toEqual({
      parts: { input: 100, output: 10 },
      cost: base,
    });
    expect(shared.upstream.asked[0]?.body).toMatchObject(dear);
  });

  test.each(['auto', 'default', 'standard_only', 'flex', 'standard'])('%s passes', async (tier) => {
    shared.upstream.answer = answer({ tier });
    const asked = { [tierField(protocol)]: tier };
    expect((await receiptOf(await ask(protocol, 'plain', true, asked))).cost).toBe(base);
    expect(shared.upstream.asked[0]?.body).toMatchObject(asked);
  });

  test('the hold covers the dearer terms, and five searches', async () => {
    const held = async (name: string, more: object) => {
      let finish: (() => void) | null = null;
      shared.upstream.answer = (asked, response) => {
        finish = () => answer({})(asked, response);
      };
      const pending = ask(protocol, name, false, more);
      await until(() => finish !== null, 'the upstream was asked');
      const quota = await keyQuota(shared.gateway, testKey);
      (finish as (() => void) | null)?.();
      await (await pending).text();
      await shared.gateway.usage();
      return quota.held;
    };
    // Padded to one length, as bytes are held for too.
    const ordinary = await held('priced', {
      [field]: 'x'.repeat(String(Object.values(dear)[0]).length),
    });
    expect(await held('priced', dear)).toBe(ordinary * times);
    const tools = searchTools[protocol.name];
    expect((await held('priced', tools)) - (await held('allowed', tools))).toBeGreaterThanOrEqual(
      // One name is a byte longer than the other.
      50_000_000n - 1_000_000n,
    );
  });
});

test('messages: a region that costs more, any but the global one', async () => {
  const [, , messages] = textProtocols;
  const refused = await ask(messages!, 'plain', false, { inference_geo: 'eu' });
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain('inference_geo');
  shared.upstream.answer = answer({ geo: 'us', speed: 'fast', searches: 1 });
  const more = { inference_geo: 'us', speed: 'fast' };
  const { parts, cost } = await receiptOf(await ask(messages!, 'priced', false, more));
  expect(parts).toEqual({
    'input@speed.fast@inference_geo.us': 100,
    'output@speed.fast@inference_geo.us': 10,
    'fees.web_search': 1,
  });
  expect(cost).toBe((base * 66n) / 10n + 10_000_000n);
  shared.upstream.answer = answer({ geo: 'global' });
  const global = await ask(messages!, 'plain', false, { inference_geo: 'global' });
  expect((await receiptOf(global)).cost).toBe(base);
});

describe('spellings that could request something unpriced', () => {
  const [chat, responses, messages, generateContent] = textProtocols;
  const refuses = async (protocol: TextProtocol | undefined, more: object, headers = {}) => {
    shared.upstream.answer = answer({});
    const response = await ask(protocol!, 'plain', false, more, headers);
    expect(response.status).toBe(400);
    expect(shared.upstream.asked).toEqual([]);
    return await response.text();
  };

  test.each([
    ['another case', chat, { Service_Tier: 'priority' }],
    ['a letter that folds', responses, { '\u017fervice_tier': 'priority' }],
    ['another case', messages, { SPEED: 'fast' }],
    ['both spellings', generateContent, { serviceTier: 'standard', service_tier: 'priority' }],
    ['tools in another case', chat, { Tools: [{ type: 'web_search' }] }],
  ])('%s', async (_, protocol, more) => {
    expect(await refuses(protocol, more)).toMatch(/more than once|appears twice|duplicate/i);
  });

  test('the name of an enumeration value, and its number', async () => {
    const named = { serviceTier: 'SERVICE_TIER_PRIORITY' };
    expect(await refuses(generateContent, named)).toContain('service_tier');
    expect(await refuses(generateContent, { serviceTier: 3 })).toContain('serviceTier');
  });

  test.each([
    ['models', chat, { models: ['dearer'] }],
    ['fallbacks', chat, { fallbacks: ['dearer'] }],
    ['models', responses, { models: ['dearer'] }],
  ])('another model in %s', async (name, protocol, more) => {
    expect(await refuses(protocol, more)).toContain(`${name}: no other model may answer`);
  });

  test('a beta in the body', async () => {
    const text = await refuses(messages, { anthropic_beta: ['a-1', 'context-1m-2025-08-07'] });
    expect(text).toContain('anthropic_beta');
  });
});

test.each([
  { fallbacks: [{ model: 'dearer' }] },
  { tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'dearer' }] },
])('messages: %j, which belongs to a beta, passes with its header', async (more) => {
  shared.upstream.answer = answer({});
  const [, , messages] = textProtocols;
  const response = await ask(messages!, 'plain', false, more, { 'anthropic-beta': 'any-1' });
  await response.text();
  expect(response.status).toBe(200);
  expect(shared.upstream.asked[0]?.body).toMatchObject(more);
});

describe('betas of messages', () => {
  const [, , messages] = textProtocols;
  const sent = async (name: string, betas: string) => {
    shared.upstream.answer = answer({});
    const response = await ask(messages!, name, false, {}, { 'anthropic-beta': betas });
    await response.text();
    expect(response.status).toBe(200);
    const { headers } = shared.upstream.asked[0]!;
    return [headers['anthropic-beta'], response.headers.get('x-sluice-rewrites')];
  };

  test('all others pass unchanged', async () => {
    const betas = 'claude-code-20250219, oauth-2025-04-20,interleaved-thinking-2025-05-14';
    expect(await sent('plain', betas)).toEqual([betas, null]);
  });

  test('a long context passes where the window is long, fast mode where it has a price', async () => {
    const betas = 'a-1,context-1m-2025-08-07,fast-mode-2026-02-01,b-2';
    expect(await sent('plain', betas)).toEqual(['a-1,b-2', 'beta.context-1m,beta.fast-mode']);
    expect(await sent('priced', betas)).toEqual([
      'a-1,fast-mode-2026-02-01,b-2',
      'beta.context-1m',
    ]);
    expect(await sent('plain', 'context-1m-2025-08-07')).toEqual([undefined, 'beta.context-1m']);
    expect(await sent('plain', 'a-1, Context-1M-2025-08-07')).toEqual(['a-1', 'beta.context-1m']);
  });
});

test('a channel of another protocol does not receive them: nothing is refused or multiplied', async () => {
  shared.upstream.answer = answer({});
  const [, responses] = textProtocols;
  const response = await ask(responses!, 'converted', false, { service_tier: 'priority' });
  expect((await receiptOf(response)).cost).toBe(base);
  expect(shared.upstream.asked[0]?.body).not.toHaveProperty('service_tier');
});

test('a client that disconnects before the answer reports its terms pays for the requested ones', async () => {
  const known = (await shared.gateway.usage()).length;
  shared.upstream.answer = (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const delta = { role: 'assistant', content: 'so' };
    response.write(data({ id: 'c', choices: [{ index: 0, delta, finish_reason: null }] }));
  };
  const [chat] = textProtocols;
  const body = { ...chat!.body('priced', true), service_tier: 'priority' };
  const client = await sendRaw(shared.gateway.url, rawPost('/v1/chat/completions', body));
  await until(() => client.received().includes('"so"'), 'content');
  await wait(20);
  client.socket.resetAndDestroy();
  await until(async () => (await shared.gateway.usage()).length === known + 1, 'its row');
  const [row] = await shared.gateway.usage();
  const { input, output } = row!.tokens;
  expect(nanoOf(row!.cost)).toBe(BigInt(input * 1_000_000 + output * 2_000_000) * 2n);
});

test('an implausible number of searches is charged up to the hold', async () => {
  shared.upstream.answer = answer({ searches: 2_000 });
  const [, , messages] = textProtocols;
  const response = await ask(messages!, 'priced', false, {
    tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 1 }],
  });
  await response.text();
  const rows = await shared.gateway.usage();
  const row = rows.find(({ id }) => id === response.headers.get('x-request-id'));
  // The hold: at most 4 000 + 4 000 tokens in, 1 000 out, one search.
  expect(nanoOf(row!.cost)).toBeLessThan(12_000_000_000n);
});

test('an unaffordable request is not sent', async () => {
  // 5 USD are left: one search's fee would fit, a hundred thousand do not, and only one request has it all.
  let asked = 0;
  shared.upstream.answer = (request, response) => {
    asked += 1;
    setTimeout(() => answer({})(request, response), 300);
  };
  const [, , messages] = textProtocols;
  const tools = [{ type: 'web_search_20250305', name: 'web_search', max_uses: 100_000 }];
  const statuses = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const body = { ...messages!.body('priced', false), max_tokens: 1, tools };
      const response = await shared.gateway.post('/v1/messages', body, {
        authorization: `Bearer ${poor}`,
      });
      await response.text();
      return response.status;
    }),
  );
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 402, 402]);
  expect(asked).toBe(1);
});

test('uses without a price are counted', async () => {
  const text = await (await fetch(`${shared.gateway.url}/metrics`)).text();
  expect(text).toMatch(/^sluice_unpriced_uses_total\{model="plain",use="web_search"\} [1-9]/m);
});

test('the books are exact to the nano-USD', async () => {
  await assertBilledExactly(shared);
});
