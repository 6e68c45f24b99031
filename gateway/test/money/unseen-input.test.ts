import { expect, test } from 'vitest';
import { shareGateway } from '../behaviour/support.ts';

/*
 * Input that the bytes of a request do not tell. What can cost far more than its bytes is not let in many times on
 * what is left for one; and what costs far less than its bytes is not kept out.
 */

const email = 'tester@example.com';
const secretOf = (name: string) => `sk-${name}-0123456789abcdefghijklmnopqrstuv`;
const key = (name: string, quota: string) =>
  `  - { name: ${name}, user: ${email}, secret: ${secretOf(name)}, quota: ${quota} }`;

// A picture takes gpt-4.1 at most 85 + 8 × 170 tokens, which are 1.445 USD here; the window is 100 USD.
const shared = shareGateway({
  config: `
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat, responses, messages, generate-content]
    models: [{ name: m, upstream: gpt-4.1 }]
models:
  - { id: m, type: chat, context_window: 100000, max_output_tokens: 10, price: { input: 1000, output: 1000 } }
users: [{ email: ${email}, balance: 1000000 }]
keys:
${key('words', '5')}
${key('picture', '1.4')}
${key('pictures', '6')}
${key('window', '90')}
${key('tools', '50')}
${key('large', '6')}
`,
});

const url = 'https://example.com/a';
/** Bytes of half a megabyte: as text they would be 350 USD. */
const megapixels = Buffer.alloc(500_000).toString('base64');

type Sent = readonly [path: string, body: object];

const chat = (part: object, more: object = {}): Sent => [
  '/v1/chat/completions',
  { model: 'm', messages: [{ role: 'user', content: [part] }], ...more },
];
const responses = (part: object, more: object = {}): Sent => [
  '/v1/responses',
  { model: 'm', input: [{ role: 'user', content: [part] }], ...more },
];
const messages = (part: object, more: object = {}): Sent => [
  '/v1/messages',
  { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: [part] }], ...more },
];
const generateContent = (part: object, more: object = {}): Sent => [
  '/v1beta/models/m:generateContent',
  { contents: [{ parts: [part] }], ...more },
];

/** Four at once; how many were let in. */
async function admitted(name: string, [path, body]: Sent): Promise<number> {
  const statuses = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const response = await shared.gateway.post(path, body, {
        authorization: `Bearer ${secretOf(name)}`,
        // Long enough that all have come before the first ends, and then nothing is charged.
        'x-simulator-fault': 'delay=300;status=400',
      });
      await response.text();
      return response.status;
    }),
  );
  return statuses.filter((status) => status !== 402).length;
}

test.each<[string, Sent]>([
  ['chat', chat({ type: 'text', text: 'hello' })],
  ['responses', responses({ type: 'input_text', text: 'hello' })],
  ['messages', messages({ type: 'text', text: 'hello' })],
  ['generate-content', generateContent({ text: 'hello' })],
])('%s: words are held by their bytes', async (_name, sent) => {
  expect(await admitted('words', sent)).toBe(4);
});

test.each<[string, Sent]>([
  ['chat', chat({ type: 'image_url', image_url: { url } })],
  ['responses, by address', responses({ type: 'input_image', image_url: url })],
  ['responses, by id', responses({ type: 'input_image', file_id: 'file-1' })],
  ['messages', messages({ type: 'image', source: { type: 'url', url } })],
  ['generate-content', generateContent({ fileData: { mimeType: 'image/png', fileUri: url } })],
])('%s: a picture by URL is held as the largest there is', async (_name, sent) => {
  expect(await admitted('picture', sent)).toBe(1);
  expect(await admitted('pictures', sent)).toBe(4);
});

test.each<[string, Sent]>([
  ['chat', chat({ type: 'file', file: { file_id: 'file-1' } })],
  ['chat, sound', chat({ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } })],
  ['responses', responses({ type: 'input_file', file_url: url })],
  [
    'responses, an item',
    responses({ type: 'input_text', text: 'x' }, { previous_response_id: 'r' }),
  ],
  ['messages', messages({ type: 'document', source: { type: 'url', url } })],
  ['generate-content', generateContent({ fileData: { fileUri: url } })],
])('%s: a file is held as all the model can read', async (_name, sent) => {
  expect(await admitted('window', sent)).toBe(1);
});

test.each<[string, Sent]>([
  ['chat', chat({ type: 'text', text: 'hello' }, { web_search_options: {} })],
  ['responses', responses({ type: 'input_text', text: 'x' }, { tools: [{ type: 'web_search' }] })],
  [
    'messages',
    messages(
      { type: 'text', text: 'x' },
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    ),
  ],
  ['generate-content', generateContent({ text: 'hello' }, { tools: [{ googleSearch: {} }] })],
])('%s: tools of the provider are held for what they may find', async (_name, sent) => {
  expect(await admitted('tools', sent)).toBe(1);
});

const png = { media_type: 'image/png', data: megapixels };

test.each<[string, Sent]>([
  ['chat', chat({ type: 'image_url', image_url: { url: `data:image/png;base64,${megapixels}` } })],
  [
    'responses',
    responses({ type: 'input_image', image_url: `data:image/png;base64,${megapixels}` }),
  ],
  ['messages', messages({ type: 'image', source: { type: 'base64', ...png } })],
  [
    'generate-content',
    generateContent({ inlineData: { mimeType: 'image/png', data: megapixels } }),
  ],
])('%s: a large picture does not count as a long text', async (_name, sent) => {
  expect(await admitted('large', sent)).toBe(4);
});
