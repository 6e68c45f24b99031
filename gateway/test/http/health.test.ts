import { describe, expect, it } from 'vitest';
import type { Health } from '#endpoints/index.ts';
import { bearer, call, startGateway } from './support.ts';

describe('without a key', () => {
  it.each([
    ['GET', '/health', 200],
    ['HEAD', '/health', 200],
    ['GET', '/ready', 200],
    ['GET', '/', 200],
    ['HEAD', '/', 200],
    ['HEAD', '/api/hello', 200],
    ['GET', '/?utm=1', 200],
  ])('%s %s', async (method, path, status) => {
    const gateway = await startGateway();
    const response = await call(gateway.port, path, { method });
    expect(response.status).toBe(status);
    expect(response.headers['x-request-id']).toMatch(/^req_[\w-]{24}$/);
    if (method === 'HEAD') expect(response.text).toBe('');
    expect(gateway.keyLookups).toEqual([]);
  });

  it('health does not allow another origin', async () => {
    const gateway = await startGateway();
    const headers = { origin: 'https://evil.example' };
    const response = await call(gateway.port, '/health', { headers });
    expect(Object.keys(response.headers).join()).not.toContain('access-control');
  });
});

describe('health and readiness', () => {
  type HealthCase = [Health, number, unknown, number];
  const cases: HealthCase[] = [
    [{ status: 'ok', degraded: [] }, 200, { status: 'ok' }, 200],
    [{ status: 'ok', degraded: ['redis'] }, 200, { status: 'ok' }, 200],
    ...['journal', 'leases', 'lag', 'memory'].map((reason): HealthCase => [
      { status: 'unavailable', reason, degraded: [reason] },
      503,
      { status: 'unavailable', reason },
      503,
    ]),
    [
      { status: 'ok', degraded: [], redis: { eviction: 'unknown', persistence: 'none' } },
      200,
      { status: 'ok' },
      200,
    ],
    [{ status: 'draining', degraded: [] }, 503, { status: 'draining' }, 503],
  ];
  it.each(cases)('%o', async (health, healthStatus, healthBody, readyStatus) => {
    const gateway = await startGateway({ health: () => health });
    const live = await call(gateway.port, '/health');
    expect([live.status, live.json]).toEqual([healthStatus, healthBody]);
    const ready = await call(gateway.port, '/ready');
    const { reason: _inHealth, ...shown } = health;
    expect([ready.status, ready.json]).toEqual([readyStatus, shown]);
  });
});

describe('websocket on /v1/responses', () => {
  it.each([{}, bearer(), bearer('sk-unknown')])('gets 426 at once with %o', async (credentials) => {
    const gateway = await startGateway();
    const response = await call(gateway.port, '/v1/responses?x=1', {
      headers: {
        ...credentials,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        'sec-websocket-version': '13',
      },
    });
    expect(response.status).toBe(426);
    expect(response.text).toContain('websocket is not supported, please use POST');
    expect(response.headers['x-request-id']).toBeDefined();
    expect(gateway.keyLookups).toEqual([]);
  });

  it('an upgrade elsewhere changes nothing', async () => {
    const gateway = await startGateway();
    const headers = { ...bearer(), connection: 'Upgrade', upgrade: 'websocket' };
    expect((await call(gateway.port, '/v1/models', { headers })).status).toBe(200);
  });
});
