import { describe, expect, it } from 'vitest';
import { question, received, testKey, useGateway } from './conformance-gateway.ts';

const gateway = useGateway();

const messages = [{ role: 'user', content: question }];
const contents = [{ role: 'user', parts: [{ text: question }] }];
const calls: readonly (readonly [path: string, body: object])[] = [
  ['/v1/chat/completions', { model: 'demo-chat', messages }],
  ['/v1/responses', { model: 'demo-chat', input: question }],
  ['/v1/messages', { model: 'demo-chat', max_tokens: 100, messages }],
  ['/v1/messages/count_tokens', { model: 'demo-chat', messages }],
  ['/v1beta/models/demo-chat:generateContent', { contents }],
  ['/v1beta/models/demo-chat:streamGenerateContent?alt=sse', { contents }],
  ['/v1/models/demo-chat:generateContent', { contents }],
];
const styles: readonly Readonly<Record<string, string>>[] = [
  { authorization: `Bearer ${testKey}` },
  { authorization: `bearer ${testKey}` },
  { 'x-api-key': testKey },
  { 'X-Goog-Api-Key': testKey },
  { 'X-VendorC-Api-Key': testKey },
  { authorization: `Bearer ${testKey}`, 'x-api-key': testKey },
];

function post(path: string, body: object, headers: Readonly<Record<string, string>>) {
  return fetch(gateway().url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

describe.each(calls)('%s', (path, body) => {
  it.each(styles)('accepts the key as %j and keeps it from the upstream', async (headers) => {
    const response = await post(path, body, headers);
    expect(response.status).toBe(200);
    expect(await response.text()).not.toBe('');
    expect(JSON.stringify(received(gateway()))).not.toContain(testKey);
  });

  it('refuses a missing key, another key and two different keys', async () => {
    for (const [headers, message] of [
      [{}, 'missing api key'],
      [{ 'x-api-key': 'sk-another-0123456789abcdefghijklmn' }, 'invalid api key'],
      [{ authorization: `Bearer ${testKey}`, 'x-api-key': 'other' }, 'invalid api key'],
    ] as const) {
      const response = await post(path, body, headers);
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ error: { message } });
    }
  });

  it('accepts a key in the query under /v1beta only, and does not pass it on', async () => {
    const separator = path.includes('?') ? '&' : '?';
    const response = await post(`${path}${separator}key=${testKey}`, body, {});
    expect(response.status).toBe(path.startsWith('/v1beta/') ? 200 : 401);
    await response.text();
    expect(JSON.stringify(received(gateway()))).not.toContain(testKey);
  });
});
