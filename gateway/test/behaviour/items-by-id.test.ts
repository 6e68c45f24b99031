import { describe, expect, test } from 'vitest';
import { describeChannels, shareGateway } from './support.ts';

/*
 * Clients of Responses name the items of earlier answers by their ids, which no upstream of a converted answer has
 * stored: the AI SDK's provider does it by default.
 */

const ownKey = 'sk-items-0123456789abcdefghijklmnop';
const strangeKey = 'sk-stranger-0123456789abcdefghijkl';

const shared = shareGateway({
  config: `${describeChannels([
    {
      name: 'chat',
      protocols: ['chat'],
      models: ['by-chat -> demo-chat', 'thinks -> demo-reasoning'],
    },
    { name: 'messages', protocols: ['messages'], models: ['by-messages -> demo-chat'] },
    { name: 'gemini', protocols: ['generate-content'], models: ['by-gemini -> demo-chat'] },
    { name: 'native', protocols: ['responses'], models: ['by-responses -> demo-chat'] },
  ])}
users: [{ email: items@example.com, balance: 100 }, { email: stranger@example.com, balance: 100 }]
keys:
  - { name: items, user: items@example.com, secret: ${ownKey} }
  - { name: stranger, user: stranger@example.com, secret: ${strangeKey} }
`,
});

type Json = Record<string, unknown>;
const tools = [{ type: 'function', name: 'weather', parameters: { type: 'object' } }];
const question = { role: 'user', content: 'How is the weather? call: weather' };

async function ask(body: object, key = ownKey): Promise<{ status: number; json: Json }> {
  const response = await fetch(`${shared.gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ tools, ...body }),
  });
  const text = await response.text();
  const last = /^data: (\{"type":"response\.(?:completed|incomplete)".*\})$/m.exec(text)?.[1];
  const json = last === undefined ? JSON.parse(text) : (JSON.parse(last) as Json)['response'];
  return { status: response.status, json: json as Json };
}

const itemsOf = ({ json }: { readonly json: Json }): readonly Json[] => json['output'] as Json[];
const references = (items: readonly Json[]): Json[] =>
  items.map(({ id }) => ({ type: 'item_reference', id }));
const errorOf = ({ json }: { readonly json: Json }): Json => json['error'] as Json;

/** What the upstream received for the last request. */
const lastAsked = (): string => {
  const asked = shared.gateway.simulator.requests().at(-1);
  return JSON.stringify(asked?.body);
};

describe.each(['by-chat', 'by-messages', 'by-gemini'])('an answer of %s', (model) => {
  test.each([false, true])(
    'is named by its ids in the next turn (streamed: %s)',
    async (stream) => {
      const first = await ask({ model, input: [question], stream });
      expect(first.status).toBe(200);
      const said = itemsOf(first);
      expect(said.length).toBeGreaterThan(0);
      const words = JSON.stringify(said).match(/Sluice simulator/)?.[0] ?? 'weather';
      const next = [question, ...references(said), { role: 'user', content: 'And tomorrow?' }];
      for (const served of [model, 'by-responses']) {
        const second = await ask({ model: served, input: next, stream });
        expect(second).toMatchObject({ status: 200 });
        expect(lastAsked()).toContain(words);
        expect(lastAsked()).toContain('And tomorrow?');
        expect(lastAsked()).not.toContain('item_reference');
      }
    },
  );

  test('belongs to its user', async () => {
    const input = [question, ...references(itemsOf(await ask({ model, input: [question] })))];
    const refused = await ask({ model, input }, strangeKey);
    expect(refused.status).toBe(400);
    expect(errorOf(refused)).toMatchObject({
      message: expect.stringContaining('store: false'),
      param: 'input.1',
    });
  });

  test('is forgotten if it is not to be stored', async () => {
    const first = await ask({ model, input: [question], store: false });
    const input = [question, ...references(itemsOf(first))];
    expect(await ask({ model, input })).toMatchObject({ status: 400 });
  });
});

test('an item that is named twice is refused: small requests must not become large ones', async () => {
  const said = itemsOf(await ask({ model: 'by-chat', input: [question] }));
  const twice = [...references(said), ...references(said)];
  const refused = await ask({ model: 'by-chat', input: twice });
  expect(refused.status).toBe(400);
  expect(errorOf(refused)).toMatchObject({ param: `input.${said.length}` });
});

test('more names than any conversation has are refused before they are looked up', async () => {
  const id = `msg_${'x'.repeat(24)}_0`;
  const input = Array.from({ length: 5_000 }, () => ({ type: 'item_reference', id }));
  const refused = await ask({ model: 'by-chat', input });
  expect(refused.status).toBe(400);
  expect(errorOf(refused)['message']).toBe('invalid request body: too complex');
});

test('calls and their results too, as the AI SDK sends them', async () => {
  const asked = { role: 'user', content: 'call tool weather' };
  for (const model of ['by-chat', 'by-messages', 'by-gemini']) {
    const said = itemsOf(await ask({ model, input: [asked] }));
    const call = said.find(({ type }) => type === 'function_call');
    expect(call).toMatchObject({ name: 'weather' });
    const output = { type: 'function_call_output', call_id: call?.['call_id'], output: 'sunny' };
    const next = await ask({ model, input: [asked, ...references(said), output] });
    expect(next.status).toBe(200);
    expect(JSON.stringify(itemsOf(next))).toContain('sunny');
  }
});

describe('a request that a thread reads', () => {
  const long = { role: 'user', content: 'lorem ipsum '.repeat(100_000) };

  test.each(['by-chat', 'by-responses'])('gets them too, and goes to %s', async (model) => {
    const hello = { role: 'user', content: 'hello' };
    const said = itemsOf(await ask({ model: 'by-chat', input: [hello] }));
    // The simulator keeps the beginning of a long request.
    const input = [hello, ...references(said), { role: 'user', content: 'And tomorrow?' }, long];
    expect(await ask({ model, input })).toMatchObject({ status: 200 });
    const asked = lastAsked();
    const words = ['lorem ipsum', 'Sluice simulator', 'And tomorrow?', 'item_reference'];
    // Not `toContain`: its failure would print a megabyte.
    expect(words.map((each) => asked.includes(each))).toEqual([true, true, true, false]);
  });

  test('learns what is not remembered, and that others own it', async () => {
    const said = itemsOf(await ask({ model: 'by-chat', input: [question] }));
    const input = [long, question, ...references(said)];
    const refused = await ask({ model: 'by-chat', input }, strangeKey);
    expect(refused.status).toBe(400);
    expect(errorOf(refused)).toMatchObject({
      message: expect.stringContaining('store: false'),
      param: 'input.2',
    });
  });
});

test('ids of an upstream itself are left to it', async () => {
  const input = [question, { type: 'item_reference', id: 'msg_68af4030baa48193b0b43b4c2a176a1a' }];
  const refused = await ask({ model: 'by-chat', input });
  expect(refused.status).toBe(400);
  expect(errorOf(refused)['message']).not.toContain('remembered');
});

test('thoughts that another upstream had are not looked up at one of this protocol', async () => {
  const first = await ask({ model: 'thinks', input: [question] });
  const said = itemsOf(first);
  const thoughts = said.filter(({ type }) => type === 'reasoning');
  expect(thoughts).toEqual([expect.objectContaining({ id: expect.stringMatching(/^rs_/) })]);
  // Clients return the state of thoughts, or their ids alone.
  const bare = thoughts.map((thought) => ({ ...thought, encrypted_content: undefined }));
  for (const returned of [thoughts, bare]) {
    const input = [question, ...returned, { role: 'user', content: 'And tomorrow?' }];
    expect(await ask({ model: 'by-responses', input })).toMatchObject({ status: 200 });
    expect(lastAsked()).toContain('And tomorrow?');
    expect(lastAsked()).not.toMatch(/rs_|gw2\./);
  }
});
