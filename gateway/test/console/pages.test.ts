import { readdirSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '#test/support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.close());

const built = new URL('../../../console/dist/assets/', import.meta.url);

/** The whole response to a target that `fetch` would change. */
async function raw(target: string): Promise<string> {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  socket.end(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  return text(socket);
}

describe('S-04 the pages of the console open nothing else', () => {
  test.each(['/console', '/console/', '/console/requests', '/console/requests/req_1?x=../../a'])(
    '%s is the page, under a policy that runs only its own scripts',
    async (target) => {
      const response = await fetch(gateway.url + target);
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('<div id="root">');
      expect(response.headers.get('cache-control')).toBe('no-cache');
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).toContain("require-trusted-types-for 'script'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('referrer-policy')).toBe('no-referrer');
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
    },
  );

  const above = ['..', '%2e%2e', '.%2e', '..%2f..', '..%5c..', '%252e%252e', '....//', '..;'];
  test.each(
    above.flatMap((up) => [
      `/console/${up}`,
      `/console/${up}/package.json`,
      `/console/assets/${up}/index.html`,
      `/console/assets/${up}/${up}/package.json`,
      `/console/${up}/admin/v1/session`,
      `/console/${up}/${up}/${up}/${up}/${up}/${up}/etc/passwd`,
    ]),
  )('%s shows no other file and reaches no API', async (target) => {
    const response = await raw(target);
    expect(response).toMatch(/^HTTP\/1\.1 (200|400|404) /);
    expect(response).not.toMatch(/root:|"workspaces"|unauthenticated/);
    if (response.startsWith('HTTP/1.1 200')) expect(response).toContain('<div id="root">');
  });

  test('an unknown file is 404, not the page', async () => {
    const response = await fetch(`${gateway.url}/console/assets/nothing.js`);
    expect(response.status).toBe(404);
  });
});

test('files are sent compressed, and kept for good under their hashed names', async () => {
  const names = readdirSync(built);
  for (const name of names.filter((each) => /\.(js|css)$/.test(each))) {
    const response = await fetch(`${gateway.url}/console/assets/${name}`, {
      headers: { 'accept-encoding': 'br' },
    });
    const isSmaller = names.includes(`${name}.br`);
    expect([name, response.headers.get('content-encoding')]).toEqual([
      name,
      isSmaller ? 'br' : null,
    ]);
    expect(response.headers.get('cache-control')).toContain('immutable');
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
  }
});

/** kB after gzip. */
const sizeOf = (names: readonly string[]) =>
  names.reduce((sum, name) => sum + statSync(new URL(name, built)).size, 0) / 1_000;

test('the scripts of the first view have at most 230 kB, of each page that loads later 60, of all 600, the styles 30, as gzip', () => {
  const names = readdirSync(built);
  const html = readFileSync(new URL('../index.html', built), 'utf8');
  const scripts = names.filter((name) => name.endsWith('.js.gz'));
  // What the page names is loaded before anything is shown.
  const first = scripts.filter((name) => html.includes(name.slice(0, -'.gz'.length)));
  const later = scripts.filter((name) => !first.includes(name));
  expect(sizeOf(first)).toBeGreaterThan(100);
  expect(sizeOf(first)).toBeLessThanOrEqual(230);
  expect(later.length).toBeGreaterThan(2);
  for (const name of later) expect([name, sizeOf([name]) <= 60]).toEqual([name, true]);
  expect(sizeOf(scripts)).toBeLessThanOrEqual(600);
  expect(sizeOf(names.filter((name) => name.endsWith('.css.gz')))).toBeLessThanOrEqual(30);
});

test('with console.enabled: false there is neither page nor API', async () => {
  const off = await startTestGateway({
    config: 'console: { enabled: false }\nchannels: []\n',
  });
  try {
    for (const path of ['/console', '/console/requests', '/admin/v1/session']) {
      expect([path, (await fetch(off.url + path)).status]).toEqual([path, 404]);
    }
  } finally {
    await off.close();
  }
});
