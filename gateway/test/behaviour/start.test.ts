import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createWorkplace, workplaceIn } from '../commands/support.ts';
import { startGatewayProcess, type GatewayProcess } from '../support/gateway-process.ts';
import { greetingLines, ownAccounts, startInFolder } from '../support/start-in-folder.ts';
import { until } from './support.ts';

/** Nothing ends because of it. */
const endlessDrain = 'server: { port: 0, drain_timeout: 10m }\n';

/** A stream of the demo, or a response that comes late. */
function askDemo(url: string, key: string, fault: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'x-simulator-fault': fault,
    },
    body: JSON.stringify({
      model: 'demo-chat',
      stream: true,
      messages: [{ role: 'user', content: 'hello' }],
    }),
  });
}

const isDraining = async (url: string) => (await fetch(`${url}/health`)).status === 503;

/* Processes start slowly on a machine that does other work. */
const patience = { timeout: 60_000 };

describe('a gateway, from its first start to its second', patience, () => {
  const token = 'a-token-for-the-metrics';
  const folder = mkdtempSync(join(tmpdir(), 'sluice-start-'));
  let first: GatewayProcess;
  let key = '';
  /** Of a request that runs while the gateway stops. */
  let requestId = 'none';

  beforeAll(() => {
    writeFileSync(join(folder, 'sluice.yaml'), `${endlessDrain}metrics: { token: ${token} }\n`);
    first = startGatewayProcess({ folder });
  });
  afterAll(async () => {
    first.child.kill('SIGKILL');
    await first.exit;
    rmSync(folder, { recursive: true, force: true });
  });

  test('greets as documented, and prints a request that works', async () => {
    const url = await first.url;
    expect(first.stdout().split('\n')).toEqual([
      expect.stringMatching(/^sluice \d+\.\d+\.\d+ listening on http:\/\/127\.0\.0\.1:\d+$/),
      `console: ${url}/console`,
      `upstream: a simulator makes up every answer; add a real one in ${url}/console/channels/new`,
      expect.stringMatching(/^admin: admin@localhost [\w-]{16}$/),
      expect.stringMatching(/^key: sk-[\w-]{32,}$/),
      expect.stringMatching(/^try: curl /),
      '',
    ]);
    const lines = greetingLines(first.stdout());
    const { admin = '', try: example = '' } = lines;
    key = lines['key'] ?? '';
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      example.replace('curl ', 'curl -sS '),
    ]);
    expect(JSON.parse(stdout)).toMatchObject({
      object: 'chat.completion',
      model: 'demo-chat',
      choices: [{ message: { content: expect.stringContaining('You said') } }],
    });
    expect(first.stderr()).not.toContain(key);
    expect(first.stderr()).not.toContain(admin.split(' ')[1]);
  });

  test('R-25 SIGTERM: health says so at once, the listener closes after five seconds, running streams end, exit 0', async () => {
    const url = await first.url;
    const running = await askDemo(url, key, 'gap=100;events=65');
    requestId = running.headers.get('x-request-id') ?? 'none';
    const held = askDemo(url, key, 'delay=1000');
    const openExchanges = async () => {
      const headers = { authorization: `Bearer ${token}` };
      const metrics = await (await fetch(`${url}/metrics`, { headers })).text();
      const counts = Array.from(metrics.matchAll(/^sluice_open_exchanges\S* (\d+)$/gm));
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    };
    await until(async () => (await openExchanges()) === 2, 'both are under way', 15_000);
    const signalledAt = performance.now();
    first.child.kill('SIGTERM');
    await until(() => isDraining(url), 'draining', 15_000);
    const health = await fetch(`${url}/health`);
    expect([await health.json(), health.headers.get('connection')]).toEqual([
      { status: 'draining' },
      'close',
    ]);
    // Load balancers that have not noticed yet are served, on connections that end with the response.
    const late = await askDemo(url, key, 'gap=0');
    expect([late.status, late.headers.get('connection')]).toEqual([200, 'close']);
    expect(await late.text()).toMatch(/^data: \[DONE\]$/m);
    const begunBefore = await held;
    expect([begunBefore.status, begunBefore.headers.get('connection')]).toEqual([200, 'close']);
    expect(await begunBefore.text()).toMatch(/^data: \[DONE\]$/m);
    const refused = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body: '{}' });
    expect([refused.status, refused.headers.get('connection')]).toEqual([401, 'close']);

    const isClosed = () =>
      fetch(`${url}/health`).then(
        () => false,
        () => true,
      );
    await until(isClosed, 'the listener is closed', 15_000);
    expect(performance.now() - signalledAt).toBeGreaterThan(4_900);
    expect(await running.text()).toMatch(/^data: \[DONE\]$/m);
    // Long before the drain time-out: a connection kept alive holds the gateway up for the seconds in which a load
    // balancer may still send on it, and no longer.
    expect(await first.exit).toBe(0);
  });

  test('the second start keeps the secrets, shows none, and has the row of what ran at the end of the first', async () => {
    const second = await startInFolder(folder);
    expect(second.greeting).toMatch(/^sluice \d+\.\d+\.\d+ listening on \S+\n$/);
    const headers = { authorization: `Bearer ${key}` };
    expect((await fetch(`${second.url}/v1/models`, { headers })).status).toBe(200);
    const { data } = (await workplaceIn(folder, null).json('usage')) as {
      data: { id: string }[];
    };
    expect(data.filter(({ id }) => id === requestId)).toHaveLength(1);
  });
});

describe('R-25 SIGTERM', patience, () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'a second signal (%s) ends everything at once: streams end in their protocol, rows are kept, exit 0',
    async (again) => {
      const { folder } = createWorkplace(endlessDrain);
      const gateway = startGatewayProcess({ folder });
      onTestFinished(async () => {
        gateway.child.kill('SIGKILL');
        await gateway.exit;
      });
      const url = await gateway.url;
      const { key = '' } = greetingLines(gateway.stdout());
      const response = await askDemo(url, key, 'gap=500;events=10000');
      let text = '';
      const ended = (async () => {
        const decoder = new TextDecoder();
        for await (const bytes of response.body!) text += decoder.decode(bytes, { stream: true });
      })();
      gateway.child.kill('SIGTERM');
      await until(() => isDraining(url), 'draining', 15_000);
      // The same signal again, forwarded by another process that received it, ends no stream.
      gateway.child.kill('SIGTERM');
      const events = () => text.split('data: ').length;
      const seen = events();
      // Two gaps are the second in which a signal is still the same.
      await until(() => events() > seen + 3, 'three more events', 15_000);
      gateway.child.kill(again);
      await ended;
      expect(text).toMatch(/data: \{"error":\{"message":"service temporarily unavailable.*\n\n$/);
      expect(await gateway.exit).toBe(0);
      // The line follows the row.
      const id = response.headers.get('x-request-id') ?? 'none';
      expect(gateway.stderr()).toContain(`"requestId":"${id}"`);
    },
  );
});

/** A process that fails to start, and the packages that it loaded for that. */
async function failingProcess(file: string) {
  const { folder } = createWorkplace(file);
  const hook = `
    import { writeFileSync } from 'node:fs';
    import { registerHooks } from 'node:module';
    const loaded = new Set();
    registerHooks({ load: (url, context, next) => {
      loaded.add(/node_modules.(?:@[^/]+.)?([^/]+)/.exec(url)?.[1]);
      return next(url, context);
    } });
    process.on('exit', () => writeFileSync('loaded', [...loaded].join()));
  `;
  const environment = {
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(hook)}`,
  };
  const gateway = startGatewayProcess({ folder, environment });
  onTestFinished(() => void gateway.child.kill('SIGKILL'));
  const code = await gateway.exit;
  const loaded = readFileSync(join(folder, 'loaded'), 'utf8').split(',');
  return { code, stdout: gateway.stdout(), stderr: gateway.stderr(), loaded };
}

describe(
  'the process of a failed start says so in a sentence, without a stack, and exits with 1',
  patience,
  () => {
    test('if a port is in use', async () => {
      const taken = createServer();
      onTestFinished(() => void taken.close());
      await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
      const { port } = taken.address() as AddressInfo;
      const { loaded, ...seen } = await failingProcess(`server: { port: ${port} }`);
      expect(seen).toEqual({
        code: 1,
        stdout: '',
        stderr: `sluice: server.port: 127.0.0.1:${port} is in use by another program\n`,
      });
      expect(loaded).toEqual(expect.arrayContaining(['zod', 'kysely', 'fastify']));
    });

    test('if the file is wrong, by line and path, before anything else is loaded', async () => {
      const { loaded, ...seen } = await failingProcess(
        'server:\n  prot: 1\nchannels:\n  - { name: a, provider: nobody, models: [demo-chat] }\nkeys: 7\n',
      );
      expect(seen).toMatchObject({ code: 1, stdout: '' });
      expect(seen.stderr.trimEnd().split('\n')).toEqual([
        expect.stringMatching(/^sluice\.yaml:2: .*prot/),
        expect.stringMatching(/^sluice\.yaml:4: .*provider/),
        expect.stringMatching(/^sluice\.yaml:5: .*keys/),
      ]);
      expect(loaded).toContain('zod');
      expect(loaded.filter((name) => /kysely|pg|fastify|pino|undici/.test(name))).toEqual([]);
    });
  },
);

test('the demo stays when the file is read again, until it declares a channel', async () => {
  const { folder, write, json } = createWorkplace(endlessDrain);
  const gateway = await startInFolder(folder);
  const isOffered = async () => {
    const channels = (await json('channel', 'list')) as { owner: string; enabled: boolean }[];
    return channels.some(({ owner, enabled }) => owner === 'system' && enabled);
  };
  await gateway.reload();
  expect(await isOffered()).toBe(true);
  write(endlessDrain + ownAccounts);
  await gateway.reload();
  expect(await isOffered()).toBe(false);
});
