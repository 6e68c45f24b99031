import { describe, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { faultAt, generations, imageChannel, imageModel } from './image-requests.ts';
import { openGateway, until } from './support.ts';

describe('a client that leaves', () => {
  test.each([
    ['its place', 'in_flight: 1, queue: 0, key_concurrency: 5', '', 503],
    ['that of its key', 'in_flight: 9', ', max_concurrency: 1', 429],
  ])('pays for what is made, and keeps %s until then', async (_, limits, ofKey, status) => {
    const gateway = await openGateway({
      config: `
limits: { ${limits} }
channels:
${imageChannel({ name: 'slow', at: faultAt('delay=1500') })}
models:
${imageModel({ id: 'slow' })}
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey}${ofKey} }]
`,
    });
    const leaving = new AbortController();
    const body = JSON.stringify({ model: 'slow', prompt: 'a house', size: '256x256' });
    const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' };
    const asked = fetch(gateway.url + generations, {
      method: 'POST',
      headers,
      body,
      signal: leaving.signal,
    });
    await until(() => gateway.simulator.requests().length === 1, 'asked');
    leaving.abort();
    await expect(asked).rejects.toThrow('aborted');
    const meanwhile = await fetch(gateway.url + generations, { method: 'POST', headers, body });
    expect(meanwhile.status).toBe(status);
    await until(
      async () => (await gateway.usage()).some(({ outcome }) => outcome === 'completed'),
      'charged',
    );
    const row = (await gateway.usage()).find(({ outcome }) => outcome === 'completed');
    expect(row).toMatchObject({ cost: '0.04', units: { images: 1 } });
    const after = await fetch(gateway.url + generations, { method: 'POST', headers, body });
    expect(after.status).toBe(200);
  });
});

test('there is no room for the response: 503 before anything is sent', async () => {
  const gateway = await openGateway({
    config: `
limits: { spool: 64MiB }
channels:
${imageChannel({ name: 'slow', at: faultAt('delay=1000') })}
models:
${imageModel({ id: 'slow' })}
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey} }]
`,
  });
  const body = { model: 'slow', prompt: 'a house', size: '256x256', n: 2 };
  const responses = await Promise.all(
    Array.from({ length: 4 }, () => gateway.post(generations, body)),
  );
  const statuses = responses.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200).length).toBe(
    gateway.simulator.requests().length,
  );
  expect(statuses).toContain(503);
  expect(statuses).toContain(200);
});
