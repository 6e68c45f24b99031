import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { rawPost, sendRaw, until } from '../behaviour/support.ts';
import { textProtocols, type TextProtocol } from '../behaviour/text-protocols.ts';
import { testKey } from '../support/gateway.ts';
import { assertBilledExactly } from './billed-gateway.ts';
import { keyQuota, nanoOf } from './books.ts';
import { answer, data, poor, shareSurcharged } from './surcharged.ts';

/* Service tiers, fast modes, regions and searches: refused, held and charged as their prices say. */

const { shared, ask, receiptOf } = shareSurcharged();

const tierField = ({ name }: TextProtocol) =>
  name === 'generate-content' ? 'serviceTier' : 'service_tier';

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

  test.each([true, false])('streamed: %s; charged as the response reports', async (stream) => {
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

  test.each([true, false])('streamed: %s; a long prompt has prices of its own', async (stream) => {
    shared.upstream.answer = answer({});
    const long = await receiptOf(await ask(protocol, 'long', stream, {}));
    expect(long).toEqual({
      parts: { 'tiers.99.input': 100, 'tiers.99.output': 10 },
      cost: base + 200_000_000n,
    });
    const brim = await receiptOf(await ask(protocol, 'brim', stream, {}));
    expect(brim).toEqual({ parts: { input: 100, output: 10 }, cost: base });
    shared.upstream.answer = answer(reported);
    const both = await receiptOf(await ask(protocol, 'long', stream, dear));
    expect(both.cost).toBe((base + 200_000_000n) * times);
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

describe.each([
  ['chat', 'responses'],
  ['responses', 'chat'],
])('OpenAI, %s converted to %s', (client, upstream) => {
  const protocol = textProtocols.find(({ name }) => name === client)!;
  const dear = { service_tier: 'priority' };

  test.each([true, false])('streamed: %s; a tier arrives and is charged', async (stream) => {
    shared.upstream.answer = answer({ tier: 'priority' });
    const dearer = await receiptOf(await ask(protocol, `only-${upstream}`, stream, dear));
    expect(shared.upstream.asked[0]?.path).toContain(upstream === 'chat' ? 'chat/' : 'responses');
    expect(shared.upstream.asked[0]?.body).toMatchObject(dear);
    const term = 'service_tier.priority';
    expect(dearer.parts).toEqual({ [`input@${term}`]: 100, [`output@${term}`]: 10 });
    expect(dearer.cost).toBe(base * 2n);
  });

  test('a tier without a price is refused, and no upstream is called', async () => {
    const response = await ask(protocol, `plain-${upstream}`, false, dear);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('service_tier');
    expect(shared.upstream.asked).toEqual([]);
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

test('a channel of another protocol does not receive them: nothing is refused or multiplied', async () => {
  shared.upstream.answer = answer({});
  const [, responses] = textProtocols;
  const response = await ask(responses!, 'converted', false, { service_tier: 'priority' });
  expect((await receiptOf(response)).cost).toBe(base);
  expect(shared.upstream.asked[0]?.body).not.toHaveProperty('service_tier');
});

test('a client that disconnects before the response reports its terms pays for the requested ones', async () => {
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
