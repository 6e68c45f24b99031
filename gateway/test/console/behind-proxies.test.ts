import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { consoleSurface, createLiveFeed, registerConsole } from '#console-api/index.ts';
import { createSecrets } from '#database/index.ts';
import { surfaces } from '#endpoints/index.ts';
import { createServer } from '#http/index.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import { password, startWithPeople } from './people.ts';
import { logIn } from './person.ts';

let gateway: TestGateway;
let server: FastifyInstance;
let url: string;

/** A server that trusts proxies on this machine, and whose pages have not been built. */
beforeAll(async () => {
  gateway = await startWithPeople();
  const { database, catalogue } = gateway.app;
  server = createServer({
    bodyLimit: 1_000_000,
    corsOrigins: ['*'],
    trustedProxies: ['127.0.0.1'],
    tls: null,
    publicUrl: null,
    surfaces: [...surfaces, consoleSurface],
    onUnexpectedError: (error) => {
      throw error;
    },
  });
  registerConsole(server, {
    database,
    reading: () => database,
    openForReconciling: () => database,
    secrets: createSecrets(Buffer.alloc(32, 1)),
    snapshot: catalogue.snapshot,
    health: {
      read: () => {
        throw new Error('nobody asks');
      },
      channel: () => {
        throw new Error('nobody asks');
      },
      nodes: () => Promise.resolve([]),
    },
    now: Date.now,
    version: '1.0.0',
    files: new URL('nothing-built/', import.meta.url),
    allowInsecure: false,
    oidc: null,
    log: { warn: () => {} },
    members: { createKeys: true, maxKeys: 20, playground: true },
    placeInFile: () => null,
    bringIntoForce: () => Promise.resolve(),
    held: () => Promise.resolve(new Map()),
    tryChannel: () => Promise.reject(new Error('nobody tests')),
    explain: () => {
      throw new Error('nobody asks');
    },
    findModels: () => Promise.reject(new Error('nobody looks')),
    feed: createLiveFeed({ epoch: 0, monotonic: () => 0 }),
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await server.close();
  await gateway.close();
});

const secured = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.1' };
const logInWith = (headers: Record<string, string>) =>
  logIn(url, 'member@example.com', password, headers);

test('S-07 behind a trusted proxy with TLS, the cookie never leaves over plain http', async () => {
  const response = await logInWith({ ...secured, origin: url.replace('http:', 'https:') });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ insecure: false });
  const cookies = response.headers.getSetCookie();
  expect(cookies).toHaveLength(2);
  expect(cookies[0]).toMatch(/^__Host-sluice=[\w-]{43}; Path=\/; /);
  for (const cookie of cookies) expect(cookie).toMatch(/; HttpOnly; SameSite=Strict; Secure$/);

  const cookie = cookies[0]?.split(';')[0] ?? '';
  const session = (headers: Record<string, string>) =>
    fetch(`${url}/admin/v1/session`, { headers: { cookie, ...headers } });
  expect((await session(secured)).status).toBe(200);
  expect((await session({ 'x-forwarded-proto': 'http' })).status).toBe(401);
});

const wayOfTls = 'let it send X-Forwarded-Proto: https';
const fromHttps = () => ({ origin: url.replace('http:', 'https:') });

test.each([
  ['a page of plain http', () => secured, 'csrf', 'let it pass on the header Host'],
  [
    'a proxy without TLS',
    () => ({ ...secured, 'x-forwarded-proto': 'http' }),
    'forbidden',
    wayOfTls,
  ],
  [
    'a proxy behind one without TLS',
    () => ({ ...secured, 'x-forwarded-proto': 'http, https' }),
    'forbidden',
    wayOfTls,
  ],
  ['a proxy with TLS that does not say so', fromHttps, 'csrf', wayOfTls],
])('S-07 refuses %s, and tells what is missing', async (_name, headers, code, way) => {
  const response = await logInWith(headers());
  expect(response.status).toBe(403);
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  expect(error.code).toBe(code);
  expect(error.message).toContain(way);
});

test('pages that are not built yet say so, ask again by themselves, and the API works', async () => {
  for (const path of ['/console', '/console/requests']) {
    const response = await fetch(url + path);
    expect(response.status).toBe(503);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const page = await response.text();
    expect(page).toContain('npm run console:build');
    expect(page).toContain('http-equiv="refresh"');
  }
  expect((await fetch(`${url}/console/assets/index.js`)).status).toBe(404);
  expect((await fetch(`${url}/admin/v1/session`)).status).toBe(401);
});
