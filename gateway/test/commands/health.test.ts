import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Health } from '#endpoints/index.ts';
import { startGateway } from '../http/support.ts';
import { createWorkplace } from './support.ts';

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../http/fixtures/localhost-${name}.pem`, import.meta.url));
const tls = { cert: fixture('cert'), key: fixture('key') };

const fileFor = (server: object): string => JSON.stringify({ server });

test.each<[Health, number, string]>([
  [{ status: 'ok', degraded: [] }, 0, 'ok'],
  [{ status: 'ok', degraded: ['redis', 'spool'] }, 0, 'ok; degraded: redis, spool'],
  [{ status: 'unavailable', degraded: ['journal'] }, 1, 'unavailable; degraded: journal'],
  [{ status: 'draining', degraded: [] }, 1, 'draining'],
])('one line for %j, and exit code %i', async (state, code, words) => {
  const { port } = await startGateway({ health: () => state });
  const { sluice } = createWorkplace(fileFor({ port }));
  const line = `http://127.0.0.1:${port}/ready: ${words}\n`;
  expect(await sluice('health')).toEqual({
    code,
    out: code === 0 ? line : '',
    err: code === 0 ? '' : line,
  });
});

test('an address for every interface is asked at loopback, and a certificate for another name is accepted', async () => {
  const { port } = await startGateway({ server: { tls } });
  const { sluice, json } = createWorkplace(fileFor({ host: '0.0.0.0', port, tls }));
  const url = `https://127.0.0.1:${port}/ready`;
  expect(await json('health')).toEqual({ url, ok: true, status: 'ok', degraded: [] });
  const { err } = await sluice('health', '--url', `https://127.0.0.1:${port}`);
  expect(err).toBe(`${url}: no response; DEPTH_ZERO_SELF_SIGNED_CERT\n`);
});

test.each([
  ['', '/ready', 'ok'],
  ['/', '/ready', 'ok'],
  ['/health', '/health', 'unavailable; lag'],
])('--url with path %j asks %s', async (given, asked, words) => {
  const health = (): Health =>
    asked === '/ready'
      ? { status: 'ok', degraded: [] }
      : { status: 'unavailable', reason: 'lag', degraded: [] };
  const { port } = await startGateway({ health });
  const { out, err } = await createWorkplace('a mistake: {').sluice(
    'health',
    '--url',
    `http://127.0.0.1:${port}${given}`,
  );
  expect(out + err).toBe(`http://127.0.0.1:${port}${asked}: ${words}\n`);
});

test('a server of another kind is not taken for a gateway', async () => {
  const { port } = await startGateway({});
  const { code, err } = await createWorkplace(null).sluice(
    'health',
    '--url',
    `http://127.0.0.1:${port}/base`,
  );
  expect({ code, err }).toEqual({
    code: 1,
    err: `http://127.0.0.1:${port}/base/ready: HTTP 404; not the health of a gateway\n`,
  });
});

test('a gateway that is not there, or does not respond, fails', async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { json, sluice } = createWorkplace(fileFor({ port }));
  const late = new AbortController();
  vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(late.signal);
  onTestFinished(() => void vi.restoreAllMocks());
  let head = '';
  server.once('connection', (socket) => {
    socket.on('error', () => {});
    socket.once('data', (chunk) => {
      head = chunk.toString();
      late.abort();
    });
  });
  const url = `http://127.0.0.1:${port}/ready`;
  expect(await sluice('health')).toEqual({
    code: 1,
    out: '',
    err: `${url}: no response; none within 3 seconds\n`,
  });
  // The name that `/ready` knows, whatever `server.host` is.
  expect(head).toMatch(/^GET \/ready HTTP\/1\.1\r\nhost: localhost\r\n/i);
  server.close();
  await once(server, 'close');
  expect((await sluice('health')).err).toBe(`${url}: no response; ECONNREFUSED\n`);
  await expect(json('health')).rejects.toThrow('"ok":false');
});

test.each([
  [[], 1, 'server.port is 0'],
  [['--url', '127.0.0.1:8080'], 2, '--url: expected a URL'],
  [['--url', 'http://user:password@127.0.0.1'], 2, '--url: expected a URL'],
])('%j is refused with a reason', async (options, code, message) => {
  const outcome = await createWorkplace(fileFor({ port: 0 })).sluice('health', ...options);
  expect(outcome).toMatchObject({ code, out: '' });
  expect(outcome.err).toContain(message);
});
