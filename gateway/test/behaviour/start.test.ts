import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startSimulator } from 'simulator';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  startGatewayProcess,
  type GatewayProcess,
  type GatewayProcessOptions,
} from '../support/gateway-process.ts';
import { sendRaw, until } from './support.ts';

const anyPort = 'server: { port: 0, drain_timeout: 5s }\n';
const defaultPortIsFree = await new Promise<boolean>((resolve) => {
  const probe = createServer();
  probe.once('error', () => resolve(false));
  probe.listen(8080, '127.0.0.1', () => probe.close(() => resolve(true)));
});

function makeFolder(file?: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-start-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  if (file !== undefined) writeFileSync(join(folder, 'sluice.yaml'), file);
  return folder;
}

function start(options: GatewayProcessOptions): GatewayProcess {
  const gateway = startGatewayProcess(options);
  onTestFinished(async () => {
    gateway.child.kill('SIGKILL');
    await gateway.exit;
  });
  return gateway;
}

/** Like Ctrl-C: without the time in which load balancers notice. */
async function stop(gateway: GatewayProcess): Promise<number | null> {
  gateway.child.kill('SIGINT');
  return gateway.exit;
}

/** The values of the greeting's lines. */
function greetingOf(gateway: GatewayProcess): Record<string, string> {
  const lines = gateway.stdout().trimEnd().split('\n').slice(1);
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
  );
}

describe('the first start', () => {
  test('greets as documented, prints a request that works, and the second start keeps its secrets', async () => {
    const folder = makeFolder(anyPort);
    const first = start({ folder });
    const url = await first.url;
    expect(first.stdout().split('\n')).toEqual([
      expect.stringMatching(/^sluice \d+\.\d+\.\d+ listening on http:\/\/127\.0\.0\.1:\d+$/),
      `console: ${url}/console`,
      expect.stringMatching(/^admin: admin@localhost [\w-]{16}$/),
      expect.stringMatching(/^key: sk-[\w-]{32,}$/),
      expect.stringMatching(/^try: curl /),
      '',
    ]);
    const { key = '', admin = '', try: example = '' } = greetingOf(first);
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
    expect(await stop(first)).toBe(0);

    const second = start({ folder });
    const secondUrl = await second.url;
    expect(second.stdout()).toMatch(/^sluice \d+\.\d+\.\d+ listening on \S+\n$/);
    const response = await fetch(`${secondUrl}/v1/models`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(response.status).toBe(200);
    expect(await stop(second)).toBe(0);
  });

  test.skipIf(!defaultPortIsFree)('needs no file: port 8080, data beside it', async () => {
    const gateway = start({ folder: makeFolder() });
    expect(await gateway.url).toBe('http://127.0.0.1:8080');
    expect(Object.keys(greetingOf(gateway))).toEqual(['console', 'admin', 'key', 'try']);
    expect(await stop(gateway)).toBe(0);
  });

  test.each([
    ['OPENAI_API_KEY', 'openai', '/v1/chat/completions'],
    ['ANTHROPIC_API_KEY', 'anthropic', '/v1/messages'],
    ['GEMINI_API_KEY', 'gemini', '/v1beta/models/'],
    ['ARK_API_KEY', 'ark', '/v1/images/generations'],
    ['DASHSCOPE_API_KEY', 'dashscope', '/v1/services/aigc/video-generation/video-synthesis'],
  ])('offers a key in %s instead of the demo', async (variable, channel, path) => {
    const secret = 'sk-proj-environment-0123456789';
    const folder = makeFolder(anyPort);
    const gateway = start({ folder, environment: { [variable]: secret } });
    const url = await gateway.url;
    const { key = '', try: example = '' } = greetingOf(gateway);
    expect(example).not.toContain('demo-');
    expect(example).toContain(`${url}${path}`);
    const list = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    const { data } = (await list.json()) as { data: { id: string; owned_by: string }[] };
    expect(data.length).toBeGreaterThan(0);
    expect(data.map(({ id }) => id).filter((id) => id.startsWith('demo-'))).toEqual([]);
    expect(await stop(gateway)).toBe(0);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(import.meta.dirname, '../../src/main.js'), 'export'],
      { cwd: folder },
    );
    expect(
      Array.from(stdout.matchAll(/^ {2}- name: (\S+)\n {4}provider:/gm), ([, name]) => name),
    ).toEqual([channel]);
    // Neither printed nor logged nor kept in the clear.
    expect(gateway.stdout() + gateway.stderr() + stdout).not.toContain(secret);
    const files = readdirSync(join(folder, 'data'), { recursive: true, withFileTypes: true });
    for (const file of files.filter((each) => each.isFile())) {
      expect(readFileSync(join(file.parentPath, file.name), 'latin1')).not.toContain(secret);
    }
  });
});

test('reaches a real upstream with ten lines of configuration', async () => {
  const simulator = await startSimulator();
  onTestFinished(() => simulator.close());
  const secret = 'sk-ci-0123456789abcdefghijklmnopqrstuv';
  const file = readmeExample().replace(
    'provider: openai\n',
    `provider: openai-compatible\n    base_url: ${simulator.url}/v1\n`,
  );
  expect(file.trimEnd().split('\n').length).toBeLessThanOrEqual(12);
  const model = /models: \[([^\],]+)/.exec(file)?.[1] ?? '';
  const gateway = start({
    folder: makeFolder(`${anyPort}${file}`),
    environment: { OPENAI_API_KEY: 'upstream-key', CI_KEY: secret },
  });
  const url = await gateway.url;
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
  });
  expect([response.status, await response.text()]).toEqual([
    200,
    expect.stringContaining('You said'),
  ]);
  expect(simulator.requests()[0]?.json).toMatchObject({ model });
});

/** The file of the README's section "A real upstream", so that what people copy is what is tested. */
function readmeExample(): string {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  const section = readme.slice(readme.indexOf('## A real upstream'));
  return /```yaml\n([\s\S]*?)```/.exec(section)?.[1] ?? '';
}

describe('R-25 SIGTERM', () => {
  test('health says so at once, the listener closes after five seconds, running streams end, exit 0, rows are kept', async () => {
    const folder = makeFolder('server: { port: 0, drain_timeout: 20s }\n');
    const gateway = start({ folder });
    const url = await gateway.url;
    const { key = '' } = greetingOf(gateway);
    const ask = (fault: string) =>
      fetch(`${url}/v1/chat/completions`, {
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
    const running = await ask('gap=100;events=65');
    const held = ask('delay=1000');
    await wait(100);
    const signalledAt = performance.now();
    const elapsed = () => performance.now() - signalledAt;
    gateway.child.kill('SIGTERM');
    await until(async () => (await fetch(`${url}/health`)).status === 503, 'draining', 3_000);
    const health = await fetch(`${url}/health`);
    expect([await health.json(), health.headers.get('connection')]).toEqual([
      { status: 'draining' },
      'close',
    ]);
    // Load balancers that have not noticed yet are served, on connections that end with the response.
    const late = await ask('gap=0');
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
    await wait(Math.max(3_500 - elapsed(), 0));
    expect(await isClosed()).toBe(false);
    await until(isClosed, 'the listener is closed', 6_000);
    expect(await running.text()).toMatch(/^data: \[DONE\]$/m);
    expect(await gateway.exit).toBe(0);
    // Not the drain time-out: a connection kept alive holds the gateway up for the seconds in which a load balancer
    // may still send on it, and no longer.
    expect(elapsed()).toBeLessThan(15_000);

    const again = start({ folder });
    await again.url;
    const rows = await promisify(execFile)(
      process.execPath,
      [join(import.meta.dirname, '../../src/main.js'), 'usage', '--json'],
      { cwd: folder },
    );
    const id = running.headers.get('x-request-id') ?? 'none';
    expect(rows.stdout.split(id)).toHaveLength(2);
    // Eleven seconds of it are waits; the rest are three processes that start.
  }, 40_000);

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'a second signal (%s) ends everything at once: streams end in their protocol, rows are kept, exit 0',
    async (again) => {
      const folder = makeFolder('server: { port: 0, drain_timeout: 60s }\n');
      const gateway = start({ folder });
      const url = await gateway.url;
      const { key = '' } = greetingOf(gateway);
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'x-simulator-fault': 'gap=500;events=200',
        },
        body: JSON.stringify({
          model: 'demo-chat',
          stream: true,
          messages: [{ role: 'user', content: 'hello' }],
        }),
      });
      gateway.child.kill('SIGTERM');
      await until(async () => (await fetch(`${url}/health`)).status === 503, 'draining', 3_000);
      // The same signal again, forwarded by another process that received it.
      gateway.child.kill('SIGTERM');
      await wait(1_100);
      const askedAgainAt = performance.now();
      gateway.child.kill(again);
      const text = await response.text();
      expect(text).toMatch(/data: \{"error":\{"message":"service temporarily unavailable.*\n\n$/);
      expect(await gateway.exit).toBe(0);
      expect(performance.now() - askedAgainAt).toBeLessThan(10_000);
      // The line follows the row.
      const id = response.headers.get('x-request-id') ?? 'none';
      expect(gateway.stderr()).toContain(`"requestId":"${id}"`);
    },
    30_000,
  );

  test('a stream beyond the drain time ends with its protocol’s error frame and a clean end', async () => {
    const gateway = start({ folder: makeFolder('server: { port: 0, drain_timeout: 1s }\n') });
    const url = await gateway.url;
    const { key = '' } = greetingOf(gateway);
    const body = JSON.stringify({
      model: 'demo-chat',
      stream: true,
      messages: [{ role: 'user', content: 'hello' }],
    });
    const client = await sendRaw(
      url,
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\nx-simulator-fault: gap=500;events=60\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await until(() => client.received().includes('200 OK'), 'the stream has begun');
    const signalledAt = performance.now();
    gateway.child.kill('SIGTERM');
    expect(await gateway.exit).toBe(0);
    expect(performance.now() - signalledAt).toBeLessThan(15_000);
    await client.ended;
    expect(client.received()).not.toContain('[DONE]');
    expect(client.received()).toContain(
      'data: {"error":{"message":"service temporarily unavailable, please try again later"',
    );
    expect(client.received()).toMatch(/\r\n0\r\n\r\n$/);
  });
});

describe('a broken file', () => {
  test('is reported by line and path, with exit code 1 and nothing started', async () => {
    const gateway = start({
      folder: makeFolder(
        'server:\n  prot: 1\nchannels:\n  - { name: a, provider: nobody, models: [demo-chat] }\nkeys: 7\n',
      ),
    });
    expect(await gateway.exit).toBe(1);
    const output = gateway.stdout() + gateway.stderr();
    expect(output).toMatch(/^sluice\.yaml:2: .*prot/m);
    expect(output).toMatch(/^sluice\.yaml:4: .*provider/m);
    expect(output).toMatch(/^sluice\.yaml:5: .*keys/m);
    expect(output).not.toContain('listening');
    expect(output).not.toMatch(/^\s+at /m);
  });

  test.each([['server: {\n', /^sluice\.yaml:\d+: /m]])(
    'is reported too if it is not YAML: %j',
    async (file, expected) => {
      const gateway = start({ folder: makeFolder(file) });
      expect(await gateway.exit).toBe(1);
      expect(gateway.stdout() + gateway.stderr()).toMatch(expected);
    },
  );

  test('a port in use is reported in a sentence', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as { port: number };
    const gateway = start({ folder: makeFolder(`server: { port: ${port} }\n`) });
    expect(await gateway.exit).not.toBe(0);
    expect(gateway.stderr()).toMatch(/EADDRINUSE|in use/);
    expect(gateway.stderr()).not.toMatch(/^\s+at /m);
  });
});
