import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '#errors/index.ts';
import type { ExchangeRecord } from '#usage/index.ts';
import { bearer, call, delay, key, now, startGateway, type ClientResponse } from './support.ts';

const endpoints = [
  ['POST', '/v1/chat/completions'],
  ['POST', '/v1/responses'],
  ['POST', '/v1/messages'],
  ['POST', '/v1/messages/count_tokens'],
  ['POST', '/v1beta/models/m:generateContent'],
  ['POST', '/v1beta/models/m:countTokens'],
  ['POST', '/v1/models/m:generateContent'],
  ['GET', '/v1/models'],
  ['GET', '/v1/models/m'],
  ['GET', '/v1beta/models'],
  ['GET', '/v1beta/models/m'],
] as const;

const schemes = [
  (secret: string) => ({ authorization: `Bearer ${secret}` }),
  (secret: string) => ({ Authorization: `bEaReR   ${secret}` }),
  (secret: string) => ({ 'x-api-key': secret }),
  (secret: string) => ({ 'X-Goog-Api-Key': secret }),
  (secret: string) => ({ 'x-vendorc-api-key': secret }),
  (secret: string) => ({ authorization: `Bearer ${secret}`, 'x-api-key': secret }),
];

function strip({ status, headers, text }: ClientResponse): unknown {
  const id = headers['x-request-id'];
  const { date: _date, 'x-request-id': _x, 'request-id': _y, ...rest } = headers;
  return { status, rest, text: text.replaceAll(String(id), 'ID') };
}

describe('the header with the key makes no difference', () => {
  const cases = {
    usable: {},
    expired: { expiresAt: now },
    disabled: { enabled: false },
    'another address': { ips: ['203.0.113.7', '198.51.100.0/24'] },
    'a garbage allowlist': { ips: ['nonsense', '1.2.3.4/99', ''] },
    'this address': { ips: ['127.0.0.0/8'] },
  };
  const statuses: Record<string, number> = {
    expired: 401,
    disabled: 401,
    'another address': 403,
    'a garbage allowlist': 403,
  };

  it.each(Object.entries(cases))('%s', async (name, caller) => {
    const gateway = await startGateway({ caller });
    for (const [method, path] of endpoints) {
      const responses: ClientResponse[] = [];
      for (const scheme of schemes) {
        const body = method === 'POST' ? { body: '{}' } : {};
        responses.push(await call(gateway.port, path, { method, headers: scheme(key), ...body }));
      }
      const first = responses[0];
      if (first === undefined) throw new Error('no response');
      for (const response of responses) expect(strip(response)).toEqual(strip(first));
      const expected = statuses[name];
      if (expected === undefined) expect([401, 403]).not.toContain(first.status);
      else expect(first.status, path).toBe(expected);
      if (expected === 401) {
        expect(first.text).toContain('invalid api key');
        expect(first.headers['www-authenticate']).toBe('Bearer');
        expect(first.headers['x-should-retry']).toBe('false');
      }
      if (expected === 403) expect(first.text).toContain('ip address is not allowed');
    }
  });

  it('not even for an unknown key', async () => {
    const gateway = await startGateway();
    for (const [method, path] of endpoints) {
      for (const scheme of schemes) {
        const response = await call(gateway.port, path, { method, headers: scheme('sk-unknown') });
        expect(response.status).toBe(401);
        expect(response.text).toContain('invalid api key');
      }
    }
  });
});

describe('the key of a request', () => {
  it.each([
    ['nothing', {}, 'missing api key'],
    ['empty values', { authorization: '', 'x-api-key': ' ' }, 'missing api key'],
    ['a scheme without a key', { authorization: 'Bearer' }, 'missing api key'],
    ['another scheme', { authorization: 'Basic c2stdGVzdA==' }, 'invalid api key'],
    ['no scheme', { authorization: key }, 'invalid api key'],
    ['something that is not a key', { 'x-api-key': 'AIza-something' }, 'invalid api key'],
    ['an endless key', { 'x-api-key': `sk-${'x'.repeat(2000)}` }, 'invalid api key'],
    ['two keys', { ...bearer(), 'x-api-key': 'sk-other' }, 'invalid api key'],
    ['two keys in one header', { 'x-api-key': [key, 'sk-other'] }, 'invalid api key'],
    [
      'a repeated bearer',
      { authorization: [`Bearer ${key}`, 'Bearer sk-other'] },
      'invalid api key',
    ],
  ])('%s is refused without a look-up', async (_name, headers, message) => {
    const gateway = await startGateway();
    const response = await call(gateway.port, '/v1/models', { headers });
    expect(response.status).toBe(401);
    expect(response.text).toContain(message);
    expect(gateway.keyLookups).toEqual([]);
  });

  it.each([
    ['an empty header beside it', { ...bearer(), 'x-api-key': '' }],
    ['the same key twice', { authorization: [`Bearer ${key}`, `Bearer ${key}`] }],
    ["a proxy's own scheme beside it", { authorization: 'Basic eDp5', 'x-api-key': key }],
  ])('%s is accepted', async (_name, headers) => {
    const gateway = await startGateway();
    expect((await call(gateway.port, '/v1/models', { headers })).status).toBe(200);
  });

  it('is read from ?key= on /v1beta only', async () => {
    const gateway = await startGateway();
    const query = `?key=${key}`;
    const status = async (method: string, path: string, headers = {}): Promise<number> =>
      (
        await call(gateway.port, path, {
          method,
          headers,
          ...(method === 'POST' && { body: '{}' }),
        })
      ).status;
    expect(await status('GET', `/v1beta/models${query}`)).toBe(200);
    expect(await status('POST', `/v1beta/models/m:generateContent${query}`)).toBe(200);
    for (const [method, path] of endpoints) {
      if (!path.startsWith('/v1beta')) expect(await status(method, path + query)).toBe(401);
    }
    expect(await status('GET', '/v1beta/models?key=')).toBe(401);
    expect(await status('GET', `/v1beta/models${query}&key=sk-other`)).toBe(401);
    expect(await status('GET', `/v1beta/models${query}`, { 'x-api-key': 'sk-other' })).toBe(401);
    expect(await status('GET', `/v1beta/models${query}`, bearer())).toBe(200);
  });

  it('may need an asynchronous look-up', async () => {
    const gateway = await startGateway({
      find: async (secret) => {
        await delay(5);
        if (secret === 'sk-away') throw new GatewayError('unavailable');
        return null;
      },
    });
    const unknown = await call(gateway.port, '/v1/models', { headers: bearer() });
    expect(unknown.status).toBe(401);
    const away = await call(gateway.port, '/v1/models', { headers: bearer('sk-away') });
    expect(away.status).toBe(503);
  });

  it('is refused if the directory throws synchronously', async () => {
    const gateway = await startGateway({
      find: () => {
        throw new Error('broken');
      },
    });
    expect((await call(gateway.port, '/v1/models', { headers: bearer() })).status).toBe(500);
    expect(gateway.unexpected).toHaveLength(1);
  });
});

describe('before the body', () => {
  it('401 is sent while the body is still to come', async () => {
    const gateway = await startGateway();
    const status = await new Promise<number>((resolve, reject) => {
      const request = httpRequest({
        port: gateway.port,
        host: '127.0.0.1',
        path: '/v1/messages',
        method: 'POST',
        agent: false,
        headers: { 'content-length': 1_000_000, 'x-api-key': 'sk-unknown' },
      });
      request.on('error', reject);
      request.on('response', (response) => {
        resolve(response.statusCode ?? 0);
        request.destroy();
      });
      request.write('{');
    });
    expect(status).toBe(401);
  });

  it('a client that asks first with a wrong key is not invited to send its body', async () => {
    const gateway = await startGateway();
    const ask = (secret: string): Promise<{ invited: boolean; status: number }> =>
      new Promise((resolve, reject) => {
        let invited = false;
        const request = httpRequest({
          port: gateway.port,
          host: '127.0.0.1',
          path: '/v1/messages',
          method: 'POST',
          agent: false,
          headers: { 'content-length': 2, expect: '100-continue', 'x-api-key': secret },
        });
        request.on('error', reject);
        request.on('continue', () => {
          invited = true;
          request.end('{}');
        });
        request.on('response', (response) => {
          resolve({ invited, status: response.statusCode ?? 0 });
          response.resume();
          request.destroy();
        });
        request.flushHeaders();
      });
    expect(await ask('sk-unknown')).toEqual({ invited: false, status: 401 });
    expect(await ask(key)).toEqual({ invited: true, status: 200 });
  });
});

describe('a refusal before the request is read', () => {
  const noted = async (
    parts: Parameters<typeof startGateway>[0],
    path: string,
    secret: string,
    method: 'GET' | 'POST' = 'POST',
  ) => {
    const records: ExchangeRecord[] = [];
    const refusals = {
      closedFor: () => null,
      note: (record: ExchangeRecord) => void records.push(record),
    };
    const gateway = await startGateway({ ...parts, refusals });
    const body = method === 'POST' ? { body: '{"model":"chosen by the client"}' } : {};
    const response = await call(gateway.port, path, { method, headers: bearer(secret), ...body });
    expect(JSON.stringify(records)).not.toContain('chosen');
    return records.map(({ id, keyId, error, status, protocol, operation }) => {
      expect([id, status]).toEqual([response.headers['x-request-id'], response.status]);
      return [keyId, error, protocol, operation];
    });
  };
  const expired = { caller: { expiresAt: now } };

  it.each([
    ['/v1/chat/completions', 'chat', 'generate'],
    ['/v1/responses', 'responses', 'generate'],
    ['/v1/responses/compact', 'responses', 'compact'],
    ['/v1/messages?beta=true', 'messages', 'generate'],
    ['/v1/messages/count_tokens', 'messages', 'count-tokens'],
    ['/v1beta/models/m:streamGenerateContent', 'generate-content', 'generate'],
    ['/v1/models/m:countTokens', 'generate-content', 'count-tokens'],
    ['/v1/embeddings', 'embeddings', 'embed'],
    ['/v1/images/generations', 'images', 'generate'],
  ])('is noted with what its path says: %s', async (path, protocol, operation) => {
    expect(await noted(expired, path, key)).toEqual([
      ['key-1', 'invalid_key', protocol, operation],
    ]);
  });

  it.each([
    [{ caller: { enabled: false } }, 'invalid_key'],
    [{ caller: { ips: ['203.0.113.7'] } }, 'ip_not_allowed'],
    [{ caller: { rpm: 0 } }, 'rate_limited'],
    [{ caller: { maxConcurrency: 0 } }, 'rate_limited'],
  ])('is noted with its reason: %j', async (parts, error) => {
    expect(await noted(parts, '/v1/chat/completions', key)).toEqual([
      ['key-1', error, 'chat', 'generate'],
    ]);
  });

  it('is not noted where no key is known, or no model is called', async () => {
    expect(await noted({}, '/v1/chat/completions', `${key}x`)).toEqual([]);
    expect(await noted({}, '/v1/chat/completions', '')).toEqual([]);
    expect(await noted(expired, '/v1/models', key, 'GET')).toEqual([]);
    expect(await noted(expired, '/v1/no/such/path', key)).toEqual([]);
  });
});
