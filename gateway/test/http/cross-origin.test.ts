import { describe, expect, test } from 'vitest';
import { consoleSurface } from '#console-api/index.ts';
import { surfaces } from '#endpoints/surfaces.ts';
import { bearer, call, startGateway, type ClientResponse } from './support.ts';

const origin = 'https://app.example.com';
const endpoints = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1/images/generations',
  '/v1beta/models/demo-chat:generateContent',
  '/api/v3/contents/generations/tasks',
  '/v1/services/aigc/video-generation/video-synthesis',
  '/api/v1/services/aigc/video-generation/video-synthesis',
  '/v1/models',
  '/v1/tasks/1',
];
const closed = ['/admin/v1/session', '/console/', '/console', '/metrics', '/ready', '/'];

const open = (corsOrigins: readonly string[]) =>
  startGateway({ server: { corsOrigins, surfaces: [...surfaces, consoleSurface] } });

const preflight = (port: number, path: string, from = origin): Promise<ClientResponse> =>
  call(port, path, {
    method: 'OPTIONS',
    headers: {
      origin: from,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
    },
  });

const corsOf = ({ headers }: ClientResponse): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => /^access-control|^vary/.test(name)),
  );

describe('any origin, which is the default', () => {
  test.each(endpoints)('may call %s', async (path) => {
    const { port, keyLookups } = await open(['*']);
    const response = await preflight(port, path);
    expect([response.status, response.text]).toEqual([204, '']);
    expect(response.headers['x-request-id']).toMatch(/^req_/);
    expect(corsOf(response)).toEqual({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'DELETE, GET, HEAD, POST',
      'access-control-allow-headers': 'authorization,content-type,x-stainless-lang',
      'access-control-max-age': '7200',
    });
    expect(keyLookups).toEqual([]);
  });

  test.each<[string, Record<string, string>, number]>([
    ['an answer', bearer(), 200],
    ['an error', {}, 401],
  ])('may read %s', async (_, headers, status) => {
    const { port } = await open(['*']);
    const response = await call(port, '/v1/chat/completions', {
      headers: { ...headers, origin, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(response.status).toBe(status);
    expect(response.headers['content-type']).toBe('application/json');
    const cors = corsOf(response);
    expect(cors['access-control-allow-origin']).toBe('*');
    for (const name of ['x-request-id', 'request-id', 'retry-after', 'x-should-retry']) {
      expect(String(cors['access-control-expose-headers']).split(', ')).toContain(name);
    }
  });

  test('may read the list of models and a path that does not exist', async () => {
    const { port } = await open(['*']);
    for (const path of ['/v1/models', '/v1/nothing', '/v1/v1/models', '//v1/models/']) {
      const response = await call(port, path, { headers: { ...bearer(), origin } });
      expect([path, corsOf(response)['access-control-allow-origin']]).toEqual([path, '*']);
    }
  });

  test.each(closed)('may not call %s', async (path) => {
    const { port } = await open(['*']);
    for (const response of [
      await preflight(port, path),
      await call(port, path, { headers: { origin } }),
    ]) {
      expect(corsOf(response)).toEqual({});
      expect(response.status).not.toBe(204);
    }
  });

  test('a program sends no origin, and sees none of this', async () => {
    const { port } = await open(['*']);
    expect(corsOf(await call(port, '/v1/models', { headers: bearer() }))).toEqual({});
    const options = await call(port, '/v1/chat/completions', { method: 'OPTIONS' });
    expect([options.status, corsOf(options)]).toEqual([405, {}]);
  });
});

test('named origins may call, and no others', async () => {
  const { port } = await open([origin, 'http://localhost:3000']);
  for (const from of [origin, 'http://localhost:3000']) {
    expect(corsOf(await preflight(port, '/v1/responses', from))).toMatchObject({
      'access-control-allow-origin': from,
      vary: 'origin',
    });
  }
  for (const from of ['https://other.example.com', `${origin}.evil.example`, 'null', '*']) {
    const refused = await preflight(port, '/v1/responses', from);
    expect([refused.status, corsOf(refused)]).toEqual([405, { vary: 'origin' }]);
  }
});

test('no origin may call if none is named', async () => {
  const { port } = await open([]);
  const refused = await preflight(port, '/v1/responses');
  expect([refused.status, corsOf(refused)]).toEqual([405, {}]);
});
