import { describe, expect, test } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { applyQuirks } from '#protocols/index.ts';
import { quirksFor, vendorOf } from '#vendors/index.ts';
import { convert, protocolPairs, readWire } from '../support/convert.ts';

/* The faults that are repaired for messages upstreams are repaired for every other upstream, too. */

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A picture as a client of the protocol sends it. */
const image: Readonly<Record<TextProtocolName, (type: string, data: string) => object>> = {
  chat: (type, data) => ({
    messages: [
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: `data:${type};base64,${data}` } }],
      },
    ],
  }),
  responses: (type, data) => ({
    input: [
      {
        role: 'user',
        content: [{ type: 'input_image', image_url: `data:${type};base64,${data}` }],
      },
    ],
  }),
  messages: (type, data) => ({
    max_tokens: 10,
    messages: [
      {
        role: 'user',
        content: [{ type: 'image', source: { type: 'base64', media_type: type, data } }],
      },
    ],
  }),
  'generate-content': (type, data) => ({
    contents: [{ role: 'user', parts: [{ inlineData: { mimeType: type, data } }] }],
  }),
};

const texts: Readonly<Record<TextProtocolName, (...texts: readonly string[]) => object>> = {
  chat: (...said) => ({
    messages: said.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
  }),
  responses: (...said) => ({
    input: said.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
  }),
  messages: (...said) => ({
    max_tokens: 10,
    messages: said.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
  }),
  'generate-content': (...said) => ({
    contents: said.map((text, at) => ({
      role: at % 2 === 0 ? 'user' : 'model',
      parts: [{ text }],
    })),
  }),
};

const converted = async (client: TextProtocolName, protocol: TextProtocolName, json: object) => {
  const request = readWire(client, { model: 'm', ...json });
  const { body, rewrites } = await convert({ client, request, target: { protocol } });
  return { sent: body.toString(), rewrites };
};

describe.each(protocolPairs)('from $client to $upstream', ({ client, upstream }) => {
  test('half of a character', async () => {
    const { sent, rewrites } = await converted(client, upstream, texts[client]('A\ud83dB 😀'));
    expect([sent.includes('A\\ufffdB 😀') || sent.includes('A�B 😀'), rewrites]).toEqual([
      true,
      ['b41'],
    ]);
  });

  test.each([
    ['the name of a type that is not registered', 'image/jpg', '/9j/4AAQSkZJRg==', 'image/jpeg'],
    ['a type that the bytes are not of', 'image/jpeg', png, 'image/png'],
    ['lines of base64', 'image/png', `${png.slice(0, 64)}\r\n${png.slice(64)}\n`, 'image/png'],
  ])('%s', async (_fault, type, data, repaired) => {
    const { sent, rewrites } = await converted(client, upstream, image[client](type, data));
    expect(sent).toContain(repaired);
    expect(sent).toContain(data.replace(/\s/g, ''));
    expect(rewrites).toEqual(['b36']);
  });

  test('turns that say nothing', async () => {
    const { sent, rewrites } = await converted(
      client,
      upstream,
      texts[client]('a', 'b', '', 'd', 'e', '', 'g'),
    );
    expect(sent.match(/\(no content\)/g)).toHaveLength(1);
    expect(sent.indexOf('"b"')).toBeLessThan(sent.indexOf('(no content)'));
    expect(sent.indexOf('(no content)')).toBeLessThan(sent.indexOf('"d"'));
    expect(rewrites).toEqual(['b12']);
  });

  test('nothing is repaired where nothing is wrong', async () => {
    const whole = await converted(client, upstream, image[client]('image/png', png));
    const said = await converted(client, upstream, texts[client]('a 😀', 'b', 'c'));
    expect([whole.rewrites, said.rewrites]).toEqual([[], []]);
  });
});

describe('in the protocol of the upstream', () => {
  type Provider = Parameters<typeof vendorOf>[0]['provider'];
  const repaired = (vendor: string, protocol: TextProtocolName, json: object) => {
    const body = Buffer.from(JSON.stringify(json));
    const patched = { body, rewrites: [], usageInjected: false };
    const [provider, baseUrl = ''] = vendor.split(' ') as [Provider, string?];
    const quirks = quirksFor(vendorOf({ provider, baseUrl }), protocol, 'm');
    const after = applyQuirks(patched, quirks, json as Record<string, unknown>);
    return [after.body === body ? 'as it came' : JSON.parse(after.body.toString()), after.rewrites];
  };

  test.each([
    ['openai', 'chat', ['b41']],
    ['openai', 'responses', ['b41']],
    ['openai-compatible https://api.deepseek.com/v1', 'chat', ['b41']],
    ['openai-compatible https://api.x.ai/v1', 'chat', ['b41']],
    ['gemini', 'generate-content', ['b41']],
    ['openai-compatible https://example.com/v1', 'chat', []],
  ] as const)('half of a character at %s, %s', (vendor, protocol, rewrites) => {
    const [body, applied] = repaired(vendor, protocol, texts[protocol]('A\ud83dB'));
    expect(applied).toEqual(rewrites);
    expect(body).toEqual(rewrites.length === 0 ? 'as it came' : texts[protocol]('A\ufffdB'));
  });

  test.each([
    ['image/jpg', '/9j/4AAQ', 'image/jpeg', '/9j/4AAQ'],
    ['image/jpeg', png, 'image/png', png],
    ['image/png', `data:image/png;base64,${png}`, 'image/png', png],
  ])('a picture as %s at Gemini', (type, data, fitting, plain) => {
    const form = image['generate-content'];
    expect(repaired('gemini', 'generate-content', form(type, data))).toEqual([
      form(fitting, plain),
      ['b36'],
    ]);
    const snake = { contents: [{ parts: [{ inline_data: { data, mime_type: type } }] }] };
    expect(repaired('gemini', 'generate-content', snake)).toEqual([
      { contents: [{ parts: [{ inline_data: { data: plain, mime_type: fitting } }] }] },
      ['b36'],
    ]);
  });

  const [user, model] = [
    { role: 'user', parts: [{ text: 'a' }] },
    { role: 'model', parts: [{ text: 'b' }] },
  ];

  test.each([
    [
      'a turn of the user',
      [user, model, { role: 'user', parts: [] }],
      [user, model, { role: 'user', parts: [{ text: '(no content)' }] }],
    ],
    [
      'a turn without parts',
      [{ role: 'user' }],
      [{ parts: [{ text: '(no content)' }], role: 'user' }],
    ],
    ['a turn of the model', [user, { role: 'model', parts: [{ text: '' }] }, user], [user, user]],
    [
      'the last turns of the model',
      [user, { role: 'model', parts: [] }, { role: 'model' }],
      [user],
    ],
  ])('%s that says nothing at Gemini', (_name, contents, filled) => {
    expect(repaired('gemini', 'generate-content', { contents })).toEqual([
      { contents: filled },
      ['b12'],
    ]);
  });

  test('a message without content at OpenAI has an empty one, and calls need none', () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const calling = { role: 'assistant', content: null, tool_calls: [call] };
    const messages = [{ role: 'user', content: 'a' }, calling, { role: 'tool', tool_call_id: 'c' }];
    expect(repaired('openai', 'chat', { messages })).toEqual([
      { messages: [messages[0], calling, { ...messages[2], content: '' }] },
      ['b12'],
    ]);
    expect(repaired('openai', 'chat', { messages: messages.slice(0, 2) })[1]).toEqual([]);
  });

  test('a picture that is right is not touched', () => {
    const right = image['generate-content']('image/png', png);
    expect(repaired('gemini', 'generate-content', right)).toEqual(['as it came', []]);
  });
});
