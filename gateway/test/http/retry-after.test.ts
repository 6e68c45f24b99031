import { expect, test } from 'vitest';
import { catalogue, GatewayError, type ErrorName } from '#errors/index.ts';
import { bearer, call, startGateway } from './support.ts';

const names = (Object.keys(catalogue) as ErrorName[]).filter(
  (name) => catalogue[name].status === 503,
);

test.each(names)('%s carries the wait, whoever throws it', async (name) => {
  const { port } = await startGateway({ run: () => Promise.reject(new GatewayError(name)) });
  for (const path of [
    '/v1/chat/completions',
    '/v1/responses',
    '/v1/messages',
    '/v1beta/models/demo-chat:generateContent',
  ]) {
    const { status, headers } = await call(port, path, { headers: bearer(), body: '{}' });
    expect(status).toBe(503);
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(headers['x-should-retry']).toBeUndefined();
  }
});

test('the thrower may know a better wait', () => {
  expect(new GatewayError('unavailable', { retryAfter: 30 }).retryAfter).toBe(30);
});
