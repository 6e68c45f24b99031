import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { rawPost, sendRaw, shareGateway } from './support.ts';
import { textProtocols } from './text-protocols.ts';

/* Only the caller itself: claimed addresses, similar keys, and secrets that must not be stored anywhere. */

const fenced = 'sk-fenced-0123456789abcdefghijklmnopqrstuvwx';
const middle = '0123456789abcdefghijklmnopqrstuvwxyz0123456789';
/** Alike but for their first or last character. */
const twins = [`sk-a${middle}a`, `sk-a${middle}b`, `sk-b${middle}a`] as const;

const shared = shareGateway({
  config: `
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat, responses, messages, generate-content], models: [demo-chat] }
users: [{ email: tester@example.com, balance: 100 }]
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
  - { name: fenced, user: tester@example.com, secret: ${fenced}, ips: [203.0.113.0/24, "2001:db8::/32", 10.0.0.1] }
${twins.map((secret, at) => `  - { name: twin-${at}, user: tester@example.com, secret: ${secret}, rpm: 1 }`).join('\n')}
`,
});

const body = { model: 'demo-chat', messages: [{ role: 'user', content: 'hello' }] };

/** Names that servers and proxies read addresses from. */
const addressHeaders = [
  'x-forwarded-for',
  'X-Forwarded-For',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-original-forwarded-for',
  'cf-connecting-ip',
  'true-client-ip',
  'fastly-client-ip',
  'forwarded-for',
  'x-remote-addr',
  'x-envoy-external-address',
];

const spellings = [
  '203.0.113.7',
  '::ffff:203.0.113.7',
  '0:0:0:0:0:ffff:cb00:7107',
  '2001:db8::1',
  '2001:DB8:0:0::1',
  '[2001:db8::1]:443',
  '203.0.113.7:80',
  '127.0.0.1, 203.0.113.7',
  '203.0.113.7, 127.0.0.1',
  'for=203.0.113.7',
  'for="[2001:db8::1]"',
  '',
  'unknown',
];

describe('S-15 a claimed address does not pass an allowlist', () => {
  test.each(spellings)('%s', async (address) => {
    for (const name of [...addressHeaders, 'forwarded']) {
      const response = await shared.gateway.post('/v1/chat/completions', body, {
        authorization: `Bearer ${fenced}`,
        [name]: address,
      });
      expect([name, response.status]).toEqual([name, 403]);
      await response.text();
    }
  });

  test('an address claimed many times does not pass either', async () => {
    const lines = addressHeaders.flatMap((name) =>
      spellings.map((address) => `${name}: ${address}`),
    );
    const request = rawPost('/v1/chat/completions', body, [...lines, 'connection: close']);
    const client = await sendRaw(shared.gateway.url, request.replaceAll(testKey, fenced));
    await client.ended;
    expect(client.received()).toMatch(/^HTTP\/1\.1 403 /);
  });
});

describe('S-07 similar keys', () => {
  const call = async (secret: string) => {
    const response = await shared.gateway.post('/v1/chat/completions', body, {
      authorization: `Bearer ${secret}`,
    });
    await response.text();
    return { status: response.status, id: response.headers.get('x-request-id') };
  };

  test('share neither rates nor rows', async () => {
    for (const [at, secret] of twins.entries()) {
      const { status, id } = await call(secret);
      expect(status).toBe(200);
      expect(await shared.gateway.usage()).toContainEqual(
        expect.objectContaining({ id, key: `twin-${at}` }),
      );
    }
    for (const secret of twins) expect((await call(secret)).status).toBe(429);
  });

  test('stay distinct when cut, extended or changed in any one place', async () => {
    const [secret] = twins;
    const changed = Array.from({ length: secret.length - 3 }, (_, index) => {
      const at = index + 3;
      return `${secret.slice(0, at)}${secret[at] === 'Z' ? 'Y' : 'Z'}${secret.slice(at + 1)}`;
    });
    const others = [
      ...changed,
      secret.slice(0, -1),
      secret.slice(0, 20),
      `${secret}a`,
      secret.toUpperCase(),
      `${secret} ${secret}`,
      `sk-${secret}`,
    ];
    for (const other of others) expect([other, (await call(other)).status]).toEqual([other, 401]);
  });

  test('reveal nothing of each other’s usage', async () => {
    const own = async (secret: string) => {
      const response = await fetch(`${shared.gateway.url}/v1/usage?key=${twins[0]}&user=all`, {
        headers: { authorization: `Bearer ${secret}` },
      });
      return (await response.json()) as { requests: number; data: unknown[] };
    };
    await shared.gateway.usage();
    // Requests over the rate left no row.
    for (const secret of twins) expect((await own(secret)).requests).toBe(1);
    expect((await own(testKey)).requests).toBe(0);
  });
});

test('S-28 a key is nowhere on disk, whichever field it was put into by mistake', async () => {
  const { gateway } = shared;
  const stray = 'sk-STRAYKEY0123456789abcdefghijklmnopqrstuv';
  for (const protocol of textProtocols) {
    for (const secret of [stray, testKey]) {
      const path = protocol.path(secret, false);
      const responses = [
        await gateway.post(path, protocol.body(secret, false), { 'user-agent': `x ${secret}` }),
        await gateway.post(protocol.path('demo-chat', false), protocol.body('demo-chat', false), {
          'user-agent': secret,
          'x-request-id': secret,
          'x-client-request-id': secret,
        }),
        await gateway.post(`${path}&key=${secret}`.replace('?', '?x=1&'), '{'),
        await gateway.post(path, protocol.body('demo-chat', false), {
          authorization: `Bearer ${secret}x`,
        }),
      ];
      for (const response of responses) {
        expect(JSON.stringify([...response.headers])).not.toContain(secret);
        await response.text();
      }
    }
  }
  const rows = await gateway.usage();
  expect(rows.filter(({ model }) => model === 'sk-…').length).toBeGreaterThan(0);
  const files = readdirSync(gateway.app.dataDir, { recursive: true, withFileTypes: true });
  const seen: string[] = [];
  for (const file of files.filter((each) => each.isFile())) {
    const path = join(file.parentPath, file.name);
    seen.push(file.name);
    const bytes = readFileSync(path, 'latin1');
    for (const secret of [stray, testKey, fenced, ...twins]) {
      expect([path, bytes.includes(secret.slice(3, 30))]).toEqual([path, false]);
    }
  }
  expect(seen.some((name) => name.includes('journal'))).toBe(true);
  expect(seen).toContain('test.db');
});
