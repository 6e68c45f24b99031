import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { answerWith, usageAt } from '#test/support/own-upstream.ts';
import { startForwardProxy, type ForwardProxyOptions } from '#test/support/forward-proxy.ts';
import { attemptsOf, openGateway, openTcpServer, rowOf, shareOwnUpstream } from './support.ts';

/* Upstreams behind a company's proxy, which the environment or the channel names. */

const shared = shareOwnUpstream();

async function openProxy(options?: ForwardProxyOptions) {
  const proxy = await startForwardProxy(options);
  onTestFinished(() => proxy.close());
  return proxy;
}

/** An upstream over TLS, whose certificate this process trusts; its origin is named `localhost`. */
async function openSecureUpstream(): Promise<string> {
  const fixture = (name: string) =>
    readFileSync(new URL(`../http/fixtures/localhost-${name}.pem`, import.meta.url));
  const server = createServer(
    { cert: fixture('cert'), key: fixture('key') },
    (request, response) => {
      request.resume();
      const asked = { path: request.url ?? '', body: {}, headers: request.headers };
      answerWith(usageAt(asked.path, 3, 2))(asked, response);
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const usual = getCACertificates('default');
  setDefaultCACertificates([...usual, fixture('cert').toString()]);
  onTestFinished(() => {
    setDefaultCACertificates(usual);
    server.closeAllConnections();
    server.close();
  });
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

interface Sketch {
  readonly name: string;
  readonly url: string;
  readonly proxy?: string;
  readonly priority?: number;
}

const configOf = (channels: readonly Sketch[]) => {
  const entries = channels.map(({ name, url, proxy, priority = 0 }) => ({
    name,
    provider: 'openai-compatible',
    base_url: `${url}/v1`,
    api_key: 'vendor-secret-123',
    priority,
    timeouts: { connect: '500ms' },
    ...(proxy !== undefined && { proxy }),
    models: ['m'],
  }));
  const models = [{ id: 'm', type: 'chat', price: { input: 1, output: 2 } }];
  return `channels: ${JSON.stringify(entries)}\nmodels: ${JSON.stringify(models)}\n`;
};

const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

test('the environment names the proxy, its exceptions, and the channel overrides both', async () => {
  const proxy = await openProxy({ wantsPassword: true });
  const own = await openProxy();
  const { url } = shared.upstream;
  const host = new URL(url).host;
  const cases: [
    environment: Record<string, string>,
    setting: string | undefined,
    asked: unknown,
  ][] = [
    [{ HTTP_PROXY: proxy.url }, undefined, [`POST ${url}/v1/chat/completions`]],
    [
      { http_proxy: proxy.url, HTTP_PROXY: 'http://unknown.invalid:1' },
      undefined,
      [expect.any(String)],
    ],
    [{ HTTP_PROXY: proxy.url, NO_PROXY: `example.com, ${host}` }, undefined, []],
    [{ HTTP_PROXY: proxy.url, no_proxy: '127.0.0.0/8' }, undefined, []],
    [{ HTTP_PROXY: proxy.url }, 'direct', []],
    [{ HTTPS_PROXY: proxy.url }, undefined, []],
    [{ HTTP_PROXY: proxy.url }, own.url, []],
  ];
  for (const [environment, setting, asked] of cases) {
    const before = proxy.asked.length;
    const gateway = await openGateway({
      environment,
      config: configOf([{ name: 'c', url, ...(setting !== undefined && { proxy: setting }) }]),
    });
    const response = await gateway.post('/v1/chat/completions', chat);
    expect([response.status, proxy.asked.slice(before)]).toEqual([200, asked]);
  }
  expect(own.asked).toHaveLength(1);
  // The proxy's password stays with the proxy.
  const sent = shared.upstream.asked.map(({ headers }) => headers);
  expect(JSON.stringify(sent)).not.toMatch(/proxy-auth/);
});

test('requests over https go through a tunnel, whose connection is used again', async () => {
  const url = await openSecureUpstream();
  const proxy = await openProxy({ wantsPassword: true });
  const gateway = await openGateway({ config: configOf([{ name: 'c', url, proxy: proxy.url }]) });
  for (const stream of [false, true, false]) {
    const response = await gateway.post('/v1/chat/completions', { ...chat, stream });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain(stream ? '[DONE]' : 'quick brown fox');
  }
  expect(proxy.asked).toEqual([`CONNECT ${new URL(url).host}`]);
});

test('a proxy that fails is the fault of the operator, and its password is in no message', async () => {
  const closed = createTcpServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const refusing = await openProxy({ wantsPassword: true });
  const forbidding = await openProxy({ status: 403 });
  const silent = await openTcpServer(() => {});
  const secure = await openSecureUpstream();
  const plain = shared.upstream.url;
  const warned: string[] = [];
  const withPassword = (url: string) => url.replace(/^http:\/\/([^@]*@)?/, 'http://bob:s3cr3t@');
  for (const [proxy, url] of [
    [`http://127.0.0.1:${port}`, secure],
    [`http://127.0.0.1:${port}`, plain],
    [refusing.url, secure],
    [refusing.url, plain],
    [forbidding.url, secure],
    [silent, secure],
  ] as const) {
    const bad = { name: 'bad', url, proxy: withPassword(proxy), priority: 1 };
    const keep = (message: string, error?: unknown) =>
      void warned.push(message, String(error), JSON.stringify(error));
    const options = { logger: { warn: keep, info: keep } };
    const alone = await openGateway({ ...options, config: configOf([bad]) });
    const failed = await alone.post('/v1/chat/completions', chat);
    expect([failed.status, failed.headers.get('x-should-retry')]).not.toEqual([400, 'false']);
    expect(failed.status).toBeGreaterThanOrEqual(500);
    const text = await failed.text();
    const row = await rowOf(alone, failed.headers.get('x-request-id') ?? '');
    expect(attemptsOf(row)).toMatchObject([{ channel: 'bad', status: null }]);
    warned.push(text, JSON.stringify(row));

    const both = await openGateway({
      ...options,
      config: configOf([bad, { name: 'good', url: plain, proxy: 'direct' }]),
    });
    const response = await both.post('/v1/chat/completions', chat);
    expect(response.status).toBe(200);
    const { attempts } = await rowOf(both, response.headers.get('x-request-id') ?? '');
    expect(attempts).toMatchObject([{ channel: 'bad' }, { channel: 'good', status: 200 }]);
  }
  expect(warned.join('\n')).not.toMatch(/s3cr3t|pa55|Basic /);
});
