import { describe, expect, it } from 'vitest';
import { catalogue, GatewayError, type ErrorName } from '#errors/index.ts';
import { bearer, call, startGateway, type ClientResponse } from './support.ts';

const requestId = /^req_[\w-]{24}$/;
const surfaces = [
  { path: '/v1/chat/completions', shape: 'A' },
  { path: '/v1/responses', shape: 'A' },
  { path: '/v1/messages', shape: 'B' },
  { path: '/v1/messages/count_tokens', shape: 'B' },
  { path: '/v1beta/models/m:generateContent', shape: 'C' },
  { path: '/v1/models/m:streamGenerateContent?alt=sse', shape: 'C' },
] as const;

function messageOf(response: ClientResponse, shape: string): unknown {
  const { json } = response;
  if (json === null) return null;
  if (shape === 'B') expect(Object.keys(json)).toEqual(['type', 'error', 'request_id']);
  else expect(Object.keys(json)).toEqual(['error']);
  const error: Record<string, unknown> = json['error'] ?? {};
  if (shape === 'C') expect(error['code']).toBe(response.status);
  if (shape === 'A') expect(Object.keys(error)).toEqual(['message', 'type', 'param', 'code']);
  return error['message'];
}

describe.each(surfaces)('every catalogue error at $path', ({ path, shape }) => {
  it('has its status, its message and its headers', async () => {
    let next: ErrorName = 'internal_error';
    const gateway = await startGateway({
      run: () => Promise.reject(new GatewayError(next, { values: { model: 'm' } })),
    });
    for (const name of Object.keys(catalogue) as ErrorName[]) {
      next = name;
      const response = await call(gateway.port, path, { headers: bearer(), body: '{}' });
      expect(response.status, name).toBe(catalogue[name].status);
      expect(messageOf(response, shape)).toBe(
        new GatewayError(name, { values: { model: 'm' } }).message,
      );
      expect(response.headers['content-type']).toBe('application/json');
      expect(response.headers['content-length']).toBe(String(Buffer.byteLength(response.text)));
      expect(response.headers['x-request-id']).toMatch(requestId);
      expect(response.headers['request-id']).toBe(
        shape === 'B' ? response.headers['x-request-id'] : undefined,
      );
      const final =
        [400, 401, 402, 403, 404].includes(response.status) ||
        catalogue[name].code === 'insufficient_quota';
      expect(response.headers['x-should-retry'], name).toBe(final ? 'false' : undefined);
      expect(response.headers['www-authenticate']).toBe(
        response.status === 401 ? 'Bearer' : undefined,
      );
    }
  });
});

describe('waiting', () => {
  it.each([
    { retryAfter: 1, header: '1', milliseconds: '1000', retry: undefined },
    { retryAfter: 0.2, header: '1', milliseconds: '1000', retry: undefined },
    { retryAfter: 60, header: '60', milliseconds: '60000', retry: undefined },
    { retryAfter: 61, header: '61', milliseconds: '61000', retry: 'false' },
  ])('of $retryAfter s', async ({ retryAfter, header, milliseconds, retry }) => {
    const gateway = await startGateway({
      run: () => Promise.reject(new GatewayError('rate_limited', { retryAfter })),
    });
    const { headers } = await call(gateway.port, '/v1/messages', {
      headers: bearer(),
      body: '{}',
    });
    expect(headers['retry-after']).toBe(header);
    expect(headers['retry-after-ms']).toBe(milliseconds);
    expect(headers['x-should-retry']).toBe(retry);
  });
});

describe('shape by path', () => {
  const video1 = ['request_id', 'code', 'message', 'error'];
  it.each([
    ['/v1/messages/unknown', ['type', 'error', 'request_id']],
    ['/v1beta/unknown', ['error']],
    ['/api/v3/contents/x', ['error', 'request_id']],
    ['/v1/services/aigc/x', video1],
    ['/v1/tasks/x/y', video1],
    ['/unknown', ['error']],
  ])('%s', async (path, keys) => {
    const gateway = await startGateway();
    const response = await call(gateway.port, path);
    expect(response.status).toBe(404);
    expect(Object.keys(response.json ?? {})).toEqual(keys);
  });

  it('names the codes of both video protocols', async () => {
    const gateway = await startGateway();
    const synthesis = await call(gateway.port, '/v1/tasks/x/y');
    expect(synthesis.json).toEqual({
      request_id: expect.stringMatching(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/),
      code: 'InvalidTask',
      message: 'not found',
      error: { message: 'not found', type: 'not_found_error', param: null, code: null },
    });
    const contents = await call(gateway.port, '/api/v3/x');
    expect(contents.json).toEqual({
      error: { code: 'InvalidTask', message: 'not found', param: '', type: 'not_found_error' },
      request_id: contents.headers['x-request-id'],
    });
  });

  it.each(['anthropic-version', 'vendorb-version', 'Vendorb-Version'])(
    '/v1/models with %s answers in the shape of messages',
    async (name) => {
      const gateway = await startGateway();
      const response = await call(gateway.port, '/v1/models', {
        headers: { [name]: '2023-06-01' },
      });
      expect(response.status).toBe(401);
      expect(messageOf(response, 'B')).toBe('missing api key');
      expect(response.headers['request-id']).toBe(response.headers['x-request-id']);
      expect(messageOf(await call(gateway.port, '/v1/models'), 'A')).toBe('missing api key');
    },
  );
});

describe('an unexpected error', () => {
  it('is an internal error for the client and complete in the log', async () => {
    const fault = new TypeError('secret detail');
    const gateway = await startGateway({ run: () => Promise.reject(fault) });
    const response = await call(gateway.port, '/v1/messages', { headers: bearer(), body: '{}' });
    expect(response.status).toBe(500);
    expect(messageOf(response, 'B')).toBe('internal error');
    expect(response.text).not.toContain('secret');
    expect(gateway.unexpected).toEqual([fault]);
  });

  it('never gets two responses', async () => {
    const gateway = await startGateway({
      run: async ({ client }) => {
        client.start(200, { 'content-type': 'text/event-stream' });
        client.end('data: 1\n\n');
        throw new GatewayError('upstream_abnormal');
      },
    });
    const response = await call(gateway.port, '/v1/messages', { headers: bearer(), body: '{}' });
    expect(response.text).toBe('data: 1\n\n');
    expect(gateway.unexpected).toHaveLength(1);
  });
});
