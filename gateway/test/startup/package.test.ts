import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase, isSkipped } from '../database/databases.ts';
import { startGatewayProcess, unexpectedLines } from '../support/gateway-process.ts';
import { greetingLines } from '../support/start-in-folder.ts';

/* The package of `npm run pack`, installed into an empty folder where there is no registry. */

const root = resolve(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'sluice-package-'));
const installed = join(folder, 'node_modules/sluice');
const program = join(folder, 'node_modules/.bin/sluice');
const environment = {
  PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
  HOME: folder,
};

beforeAll(() => {
  const printed = execFileSync(process.execPath, ['supply/pack.ts'], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, PATH: environment.PATH },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const file = join(root, printed.trim());
  const options = ['--offline', '--omit=optional', '--no-audit', '--no-fund', '--silent'];
  execFileSync('npm', ['install', ...options, file], { cwd: folder, env: environment });
}, 600_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a command prints. @throws if it fails */
const sluice = (...parameters: readonly string[]): string =>
  execFileSync(process.execPath, [program, ...parameters], {
    cwd: folder,
    encoding: 'utf8',
    env: environment,
  });

const list = (pattern: string): string[] => globSync(pattern, { cwd: installed }).toSorted();

describe('contents', () => {
  test('every module that is named is there, and every thread', () => {
    const names = /(?<=(['"`])(?=\.{1,2}\/))[^'"`\n$]*\.[jt]s(?=\1)/g;
    const missing = list('{gateway,simulator}/**/*.js').flatMap((file) =>
      Array.from(readFileSync(join(installed, file), 'utf8').matchAll(names), ([name]) => name)
        .filter((name) => !existsSync(join(installed, dirname(file), name)))
        .map((name) => `${file}: ${name}`),
    );
    expect(missing).toEqual([]);
    const threads = globSync('gateway/src/**/*.worker.ts', { cwd: root }).toSorted();
    expect(list('gateway/src/**/*.worker.js')).toEqual(
      threads.map((file) => file.replace(/ts$/, 'js')),
    );
  });

  test('what runs, and no TypeScript, tests or tools', () => {
    expect(list('{gateway,simulator,node_modules}/**/*.ts')).toEqual([]);
    expect(list('{gateway,simulator}/**/*.test.*')).toEqual([]);
    expect(list('node_modules/{typescript,vite,vitest,oxlint,react}')).toEqual([]);
  });

  test('licences, and a list of the packages', () => {
    expect(list('{LICENSE,console/dist/licenses.md,node_modules/fastify/LICENSE}')).toHaveLength(3);
    const licences = readFileSync(join(installed, 'console/dist/licenses.md'), 'utf8');
    const bom = JSON.parse(readFileSync(join(installed, 'sbom.cdx.json'), 'utf8')) as {
      readonly components: readonly { readonly name: string; readonly version: string }[];
    };
    const components = new Set(bom.components.map(({ name, version }) => `${name} ${version}`));
    const unlisted = list('node_modules/{*,@*/*}/package.json')
      .map((file) => JSON.parse(readFileSync(join(installed, file), 'utf8')) as Manifest)
      .filter(({ name, version }) => !components.has(`${name} ${version}`));
    expect(unlisted).toEqual([]);
    expect(components).toContain(`react-dom ${/## react-dom - (\S+)/.exec(licences)?.[1]}`);
  });
});

interface Manifest {
  readonly name: string;
  readonly version: string;
}

test('the first start answers as in a checkout, the commands work, and SIGTERM lets streams end', async () => {
  writeFileSync(join(folder, 'sluice.yaml'), 'server: { port: 0 }\n');
  const gateway = startGatewayProcess({ folder, program });
  onTestFinished(async () => {
    gateway.child.kill('SIGKILL');
    await gateway.exit;
  });
  const url = await gateway.url;
  const { key = '', try: example = '' } = greetingLines(gateway.stdout());
  const printed = execFileSync('sh', ['-c', example.replace('curl ', 'curl -sS ')], {
    encoding: 'utf8',
  });
  expect(JSON.parse(printed)).toMatchObject({
    choices: [{ message: { content: expect.stringContaining('You said: "Hello!"') as string } }],
  });

  const page = await (await fetch(`${url}/console/`)).text();
  const script = /src="([^"]+\.js)"/.exec(page)?.[1] ?? '';
  expect((await fetch(new URL(script, url))).status).toBe(200);

  const ask = (body: object, headers = {}): Promise<Response> =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'demo-chat', ...body }),
    });
  // So large that threads work on it.
  const large = await ask({ messages: [{ role: 'user', content: '你好'.repeat(300_000) }] });
  expect([large.status, (await large.text()).length > 0]).toEqual([200, true]);

  expect(sluice('check')).toContain('ok');
  expect(sluice('key', 'list')).toContain('first');
  await expect.poll(() => sluice('usage')).toContain('total: 2 requests');
  expect(sluice('reconcile')).toMatch(/: no differences\n$/);
  expect(sluice('reload')).toBe('reloaded\n');

  const running = await ask(
    { stream: true, messages: [{ role: 'user', content: 'hello' }] },
    { 'x-simulator-fault': 'gap=100;events=20' },
  );
  gateway.child.kill('SIGTERM');
  expect(await running.text()).toMatch(/data: \[DONE\]\n\n$/);
  expect(await gateway.exit).toBe(0);
  expect(unexpectedLines(gateway.stderr())).toEqual([]);
}, 120_000);

test('the simulator runs by itself', async () => {
  const child = spawn(process.execPath, [program, 'simulate', '--port', '0'], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  expect(line).toMatch(/listening on http:/);
});

test.skipIf(isSkipped('postgres'))('several workers share PostgreSQL', async () => {
  const database = await createTestDatabase('postgres');
  const own = mkdtempSync(join(folder, 'workers-'));
  writeFileSync(
    join(own, 'sluice.yaml'),
    `server: { port: 0, workers: 2 }\nstorage: { url: ${JSON.stringify(database.url)} }\n`,
  );
  const gateway = startGatewayProcess({ folder: own, program });
  onTestFinished(async () => {
    gateway.child.kill('SIGKILL');
    await gateway.exit;
    await database.drop();
  });
  expect((await fetch(`${await gateway.url}/health`)).status).toBe(200);
  gateway.child.kill('SIGINT');
  expect(await gateway.exit).toBe(0);
  expect(unexpectedLines(gateway.stderr())).toEqual([]);
});
