import { expect, it } from 'vitest';
import { bearer, call, startGateway } from './support.ts';

const forwarded = { ...bearer(), 'x-forwarded-for': '10.1.1.1' };

// Which address a header gives: beside the code.
it.each([
  [['10.0.0.0/8'], [], 403],
  [['127.0.0.1'], [], 200],
  [['10.0.0.0/8'], ['127.0.0.1'], 200],
  [['127.0.0.1'], ['127.0.0.1'], 403],
])('a key for %j, with trusted proxies %j: %i', async (ips, trustedProxies, expected) => {
  const gateway = await startGateway({ caller: { ips }, server: { trustedProxies } });
  const { status } = await call(gateway.port, '/v1/models', { headers: forwarded });
  expect(status).toBe(expected);
});

it('repeated headers are read as one list', async () => {
  const gateway = await startGateway({
    caller: { ips: ['10.0.0.0/8'] },
    server: { trustedProxies: ['127.0.0.1'] },
  });
  const headers = { ...bearer(), 'x-forwarded-for': ['10.1.1.1', '1.1.1.1'] };
  expect((await call(gateway.port, '/v1/models', { headers })).status).toBe(403);
});
