import { execFileSync } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startGatewayPlace } from '../support/gateway-place.ts';

const secret = 'sk-test-0123456789abcdefghijklmnopqrstuvwxyz';

const config = `
channels: [{ name: sim, provider: simulator, base_url: SIMULATOR, models: [demo-image] }]
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${secret} }]
`;

test.skipIf(process.platform !== 'linux')(
  'a picture whose row cannot be recorded is not shown and not charged',
  { timeout: 60_000 },
  async () => {
    const { gateway, url } = await startGatewayPlace({ config });
    const draw = (fault = '') =>
      fetch(`${url}/v1/images/generations`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          'x-simulator-fault': fault,
        },
        body: JSON.stringify({ model: 'demo-image', prompt: 'a house', size: '64x64' }),
      });
    const limitFiles = (size: string) =>
      execFileSync('prlimit', ['--pid', String(gateway.child.pid), `--fsize=${size}:unlimited`]);

    expect((await draw()).status).toBe(200);
    const late = draw('delay=800');
    await wait(400);
    limitFiles('1');
    const response = await late;
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain('b64_json');
    // Nothing is sent while nothing can be recorded.
    expect((await draw()).status).toBe(503);

    limitFiles('unlimited');
    await expect.poll(async () => (await draw()).status, { timeout: 20_000 }).toBe(200);
    const usage = await fetch(`${url}/v1/usage`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    const { limits } = (await usage.json()) as { limits: { balance: string } };
    // The first picture and the last one.
    expect(limits.balance).toBe('99.92');
  },
);

test.skipIf(process.platform !== 'linux')(
  'a stream whose row cannot be recorded shows its pictures, ends with an error, and is not charged',
  { timeout: 60_000 },
  async () => {
    const { gateway, url } = await startGatewayPlace({ config });
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const body = { model: 'demo-image', prompt: 'a house', size: '64x64', stream: true };
    const late = fetch(`${url}/v1/images/generations`, {
      method: 'POST',
      headers: { ...headers, 'x-simulator-fault': 'gap=600' },
      body: JSON.stringify({ ...body, partial_images: 1 }),
    });
    const response = await late;
    execFileSync('prlimit', ['--pid', String(gateway.child.pid), '--fsize=1:unlimited']);
    const text = await response.text();
    expect(text).toContain('event: image_generation.complete\n');
    expect(text).not.toContain('[DONE]');
    const last = text.trimEnd().split('\n\n').at(-1) ?? '';
    expect(JSON.parse(last.replace('data: ', ''))).toMatchObject({
      error: { code: 'service_unavailable' },
    });
    execFileSync('prlimit', ['--pid', String(gateway.child.pid), '--fsize=unlimited:unlimited']);
    const usage = await fetch(`${url}/v1/usage`, { headers });
    const { limits } = (await usage.json()) as { limits: { balance: string } };
    expect(limits.balance).toBe('100');
  },
);
