import { describe, expect, it } from 'vitest';
import {
  bearer,
  call,
  key,
  model,
  raw,
  snapshotOf,
  startGateway,
  type ClientResponse,
} from './support.ts';

function messageOf(response: ClientResponse): string {
  const error: Record<string, unknown> = response.json?.['error'] ?? {};
  return String(error['message']);
}

describe('unknown paths', () => {
  it.each([
    '/unknown',
    '/v1',
    '/v1/',
    '/v1beta',
    '/v1/chat',
    '/v1/chat/completions/extra',
    '/v1/chat%2fcompletions',
    '/v1/%2e%2e/v1/chat/completions/x',
    '/v1/../chat',
    '/v1/../v1/models',
    '/v1/chat/completions;x=1',
    '/v1/chat/completions.',
    '/V1/chat/completions/',
    '/v1/chat/completions%00',
    '/v1/chat/completions%20',
    '/v1beta/models/%zz:generateContent',
    '/v1beta/models/m:unknownAction',
    '/v1beta/models/:generateContent',
    '/v1beta/models/m:generatecontent',
    '/v1/models/m:embedContent',
    '/v1beta/tunedModels/m:generateContent/x',
    String.raw`/v1\models`,
  ])('%s is 404 without a key', async (path) => {
    const gateway = await startGateway();
    const response = await raw(
      gateway.port,
      `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}`,
    );
    expect(response).toMatch(/^HTTP\/1\.1 404 /);
    expect(response).toMatch(/x-request-id: req_[\w-]{24}\r\n/);
    expect(response).toContain('not found');
    expect(gateway.keyLookups).toEqual([]);
  });

  it('no body is read for them', async () => {
    const gateway = await startGateway();
    const response = await raw(
      gateway.port,
      'POST /unknown HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n\r\n',
      false,
    );
    expect(response).toMatch(/^HTTP\/1\.1 404 /);
  });

  it.each([
    ['/chat/completions', '/v1'],
    ['/responses', '/v1'],
    ['/models', '/v1'],
    ['/messages', ''],
    ['/messages/count_tokens', ''],
    ['/models/m:generateContent', '/v1beta'],
    ['/openai/v1/chat/completions', '/v1'],
    ['/api/v1/messages', ''],
    ['/gemini/v1beta/models/a/b:streamGenerateContent', '/v1beta'],
    ['/v1/chat/completions/chat/completions', '/v1'],
    ['/v1/messages/v1/messages', ''],
    ['/v1beta/models/m:generateContent/v1beta/models/n:generateContent', '/v1beta'],
    ['/v1beta/models/m:streamGenerateContent/models/n:countTokens', '/v1beta'],
  ])('%s names the right base URL', async (path, suffix) => {
    const gateway = await startGateway();
    const response = await call(gateway.port, path, { body: '{}' });
    expect(response.status).toBe(404);
    const base = `http://127.0.0.1:${gateway.port}${suffix}`;
    expect(messageOf(response)).toBe(`not found: use base URL ${base}`);
  });

  it('the hint names the public URL if there is one, and never echoes a strange host', async () => {
    const known = await startGateway({ server: { publicUrl: 'https://ai.example.com/' } });
    expect(messageOf(await call(known.port, '/responses', { body: '{}' }))).toBe(
      'not found: use base URL https://ai.example.com/v1',
    );
    const gateway = await startGateway();
    for (const host of ['a/b', 'a?b', 'a#b', 'a@b', '<script>', 'x'.repeat(300)]) {
      const response = await call(gateway.port, '/responses', { headers: { host }, body: '{}' });
      expect(messageOf(response)).toBe('not found: use base URL {base_url}/v1');
    }
  });
});

describe('S-03 only the path decides, whatever else names one', () => {
  it.each(['evil/v1/models', 'a?/health', 'a#/health', 'x/..'])('Host: %s', async (host) => {
    const gateway = await startGateway();
    const response = await call(gateway.port, '/v1/models', { headers: { host } });
    expect(response.status).toBe(401);
  });

  it.each([
    'GET http://x/health HTTP/1.1',
    'GET http://x/v1/models HTTP/1.1',
    'GET https://user@x//v1/models HTTP/1.1',
    'OPTIONS * HTTP/1.1',
  ])('%s is unknown', async (line) => {
    const gateway = await startGateway();
    const response = await raw(
      gateway.port,
      `${line}\r\nhost: x\r\nx-api-key: ${key}\r\nconnection: close\r\n\r\n`,
    );
    expect(response).toMatch(/^HTTP\/1\.1 404 /);
    expect(gateway.exchanges).toEqual([]);
  });

  it('an encoded spelling of a path is authenticated like the path', async () => {
    const gateway = await startGateway();
    const response = await call(gateway.port, '/v1/%6dessages', { body: '{}' });
    expect(response.status).toBe(401);
    expect(response.json).toMatchObject({ type: 'error' });
    expect(response.headers['request-id']).toBe(response.headers['x-request-id']);
  });
});

describe('methods', () => {
  it.each([
    ['GET', '/v1/chat/completions', 'POST'],
    ['DELETE', '/v1/messages', 'POST'],
    ['PUT', '/v1/messages/count_tokens', 'POST'],
    ['GET', '/v1/responses', 'POST'],
    ['HEAD', '/v1/responses', 'POST'],
    ['OPTIONS', '/v1/chat/completions', 'POST'],
    ['PROPFIND', '/v1/chat/completions', 'POST'],
    ['POST', '/v1/models', 'HEAD, GET'],
    ['POST', '/v1/models/m', 'GET, HEAD'],
    ['DELETE', '/v1/models/m', 'GET, HEAD'],
    ['GET', '/v1/models/m:generateContent', 'POST'],
    ['GET', '/v1beta/models/m:streamGenerateContent', 'POST'],
    ['PATCH', '/v1beta/models/a/b:countTokens', 'POST'],
    ['POST', '/v1beta/models/m', 'GET, HEAD'],
    ['POST', '/health', 'HEAD, GET'],
    ['GET', '/api/hello', 'HEAD'],
  ])('%s %s is 405 and allows %s', async (method, path, allow) => {
    const gateway = await startGateway();
    const response = await call(gateway.port, path, { method });
    expect(response.status).toBe(405);
    expect(response.headers.allow?.split(', ').toSorted()).toEqual(allow.split(', ').toSorted());
    if (method !== 'HEAD') expect(messageOf(response)).toBe('method not allowed');
    expect(gateway.keyLookups).toEqual([]);
  });

  it('HEAD is GET without a body', async () => {
    const gateway = await startGateway();
    const headers = bearer();
    const get = await call(gateway.port, '/v1/models', { headers });
    const head = await call(gateway.port, '/v1/models', { method: 'HEAD', headers });
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    expect((await call(gateway.port, '/v1/models', { method: 'HEAD' })).status).toBe(401);
  });
});

describe('tolerated wrong base URLs', () => {
  it.each([
    ['/v1/v1/messages', 'messages', ''],
    ['/v1/v1/v1/chat/completions', 'chat', '/v1'],
    ['//v1//chat/completions', 'chat', '/v1'],
    ['/v1/responses/', 'responses', '/v1'],
    ['/v1/messages/?beta=true', 'messages', ''],
    ['/v1/v1beta/models/m:generateContent', 'generate-content', '/v1beta'],
    ['/v1beta/v1beta/models/m:generateContent', 'generate-content', '/v1beta'],
    ['/v1beta/v1/chat/completions', 'chat', '/v1'],
  ])('%s', async (path, protocol, suffix) => {
    const gateway = await startGateway();
    const response = await call(gateway.port, path, { headers: bearer(), body: '{}' });
    expect(response.status).toBe(200);
    expect(gateway.exchanges[0]?.protocol).toBe(protocol);
    const hint = `use base URL http://127.0.0.1:${gateway.port}${suffix}`;
    expect(response.headers['x-sluice-hint']).toBe(hint);
    const refused = await call(gateway.port, path, { body: '{}' });
    expect(refused.status).toBe(401);
    expect(refused.headers['x-sluice-hint']).toBe(hint);
  });

  it('a right one gets no hint', async () => {
    const gateway = await startGateway();
    const path = '/v1/messages?beta=true&next=//x/v1/v1/';
    const response = await call(gateway.port, path, { headers: bearer(), body: '{}' });
    expect(response.status).toBe(200);
    expect(response.headers).not.toHaveProperty('x-sluice-hint');
  });

  it('models too, and never by a redirect', async () => {
    const gateway = await startGateway({ snapshot: () => snapshotOf([model('m')]) });
    for (const path of ['/v1/v1/models', '/v1//models', '/v1/models/', '/v1/models/m/']) {
      const response = await call(gateway.port, path, { headers: bearer() });
      expect(response.status, path).toBe(200);
    }
  });

  it('?key= survives the repair of the path', async () => {
    const gateway = await startGateway();
    const status = async (path: string): Promise<number> =>
      (await call(gateway.port, `${path}?key=${key}`)).status;
    expect(await status('/v1beta/v1beta/models')).toBe(200);
    expect(await status('/v1/v1beta/models')).toBe(200);
    expect(await status('/v1beta/v1/models')).toBe(401);
  });
});

describe('what the relay receives', () => {
  const cases = [
    ['/v1/chat/completions', 'chat', 'generate', null, null, 'event-stream'],
    ['/v1/responses?x=y', 'responses', 'generate', null, null, 'event-stream'],
    ['/v1/responses/compact', 'responses', 'compact', null, null, 'event-stream'],
    ['/v1/embeddings', 'embeddings', 'embed', null, null, null],
    ['/v1/messages?beta=true', 'messages', 'generate', null, null, 'event-stream'],
    ['/v1/messages/count_tokens?beta=true', 'messages', 'count-tokens', null, null, 'event-stream'],
    [
      '/v1beta/models/m:generateContent',
      'generate-content',
      'generate',
      'm',
      false,
      'event-stream',
    ],
    [
      '/v1beta/models/m:streamGenerateContent',
      'generate-content',
      'generate',
      'm',
      true,
      'json-array',
    ],
    [
      '/v1/models/m:streamGenerateContent?alt=sse',
      'generate-content',
      'generate',
      'm',
      true,
      'event-stream',
    ],
    ['/v1/models/m:countTokens', 'generate-content', 'count-tokens', 'm', false, 'event-stream'],
  ] as const;

  it.each(cases)('%s', async (path, protocol, operation, pathModel, pathStream, framing) => {
    const gateway = await startGateway();
    const before = Date.now();
    const headers = { ...bearer(), 'anthropic-beta': 'x' };
    const response = await call(gateway.port, path, { headers, body: '{"a":1}' });
    const exchange = gateway.exchanges[0];
    expect(exchange).toMatchObject({ protocol, operation, pathModel, pathStream });
    // Only streams have one.
    if (framing !== null) expect(exchange).toMatchObject({ framing });
    expect(exchange?.id).toBe(response.headers['x-request-id']);
    expect(exchange?.arrivedAt).toBeGreaterThanOrEqual(before);
    expect(exchange?.startedAt).toBeLessThanOrEqual(performance.now());
    expect(exchange?.caller.keyId).toBe('key-1');
    expect(exchange?.body.toString()).toBe('{"a":1}');
    expect(exchange?.headers['anthropic-beta']).toBe('x');
  });

  it.each([
    ['a/b', 'a/b'],
    ['a%2Fb', 'a/b'],
    ['a%2fb%3Av1', 'a/b:v1'],
    ['llama3:8b', 'llama3:8b'],
    ['%252f', '%2f'],
    ['..%2f..%2fx', '../../x'],
    ['a%3Fb%23c', 'a?b#c'],
    ['a%0d%0ab%00', 'a\r\nb\u0000'],
    ['a%3AgenerateContent%3Fkey=', 'a:generateContent?key='],
    ['mod%C3%A8le', 'modèle'],
    ['x'.repeat(10_000), 'x'.repeat(10_000)],
    ['a%20b+c', 'a b+c'],
  ])('decodes the model %s once', async (written, expected) => {
    const gateway = await startGateway();
    for (const prefix of ['/v1', '/v1beta']) {
      const path = `${prefix}/models/${written}:generateContent`;
      const response = await call(gateway.port, path, { headers: bearer(), body: '{}' });
      expect(response.status).toBe(200);
      expect(gateway.exchanges.pop()?.pathModel).toBe(expected);
    }
  });
});
