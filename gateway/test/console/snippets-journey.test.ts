import { execFile, spawnSync } from 'node:child_process';
import {
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect, promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasBrowser, startJourney } from './browser.ts';

const python = process.env['SLUICE_TEST_PYTHON'] ?? 'python3';
const hasPython = spawnSync(python, ['-c', 'import openai']).status === 0;

const run = promisify(execFile);
const answer = /This is the Sluice simulator/;

/** Everything that the gateway logged. */
const logged: unknown[] = [];
const log = (...line: unknown[]) => void logged.push(line);

const folder = mkdtempSync(join(tmpdir(), 'sluice-snippets-'));
afterAll(() => rmSync(folder, { recursive: true }));
const { gateway, opened } = await startJourney({
  logger: { info: log, warn: log, error: log, request: log },
});

beforeAll(async () => {
  if (!hasBrowser) return;
  // As after `npm install openai`.
  const packages = fileURLToPath(new URL('../../../node_modules', import.meta.url));
  symlinkSync(packages, join(folder, 'node_modules'));
  await opened.signInAt('/keys', 'member@example.com');
  await opened.page.getByRole('heading', { name: 'Keys' }).waitFor();
});

/** Makes a key in the dialog, which then shows its secret and the steps of each client. */
async function makeKey(name: string) {
  const { page } = opened;
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByLabel('CI', { exact: true }).check();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.locator('#secret').waitFor();
  const secret = (await page.locator('#secret').textContent()) ?? '';
  expect(secret).toMatch(/^sk-[0-9A-Za-z]{40,}$/);
  return {
    secret,
    dialog,
    shown: async (client: string) => {
      await dialog.getByRole('tab', { name: client, exact: true }).click();
      return (await dialog.getByRole('region', { name: client }).textContent()) ?? '';
    },
    done: async () => {
      await dialog.getByRole('button', { name: 'I have it' }).click();
      await page.locator('#secret').waitFor({ state: 'detached' });
    },
  };
}

/** How the requests of the key ended. */
async function outcomesOf(name: string) {
  return (await gateway.usage()).filter(({ key }) => key === name).map(({ outcome }) => outcome);
}

test.runIf(hasBrowser)(
  'what is shown for curl and TypeScript runs as it stands, and the secret is nowhere afterwards',
  { timeout: 120_000 },
  async () => {
    const { page, complaints } = opened;
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.url()));
    const { secret, dialog, shown, done } = await makeKey('build');

    const curl = await run('sh', ['-c', await shown('curl')]);
    expect(curl.stdout).toMatch(answer);

    writeFileSync(join(folder, 'hello.ts'), await shown('TypeScript'));
    const version = JSON.parse(
      readFileSync(join(folder, 'node_modules/openai/package.json'), 'utf8'),
    ) as { readonly version: string };
    await dialog.getByText(`Tried with openai ${version.version}.`).waitFor();
    const typescript = await run(process.execPath, ['hello.ts'], { cwd: folder });
    expect(typescript.stdout).toMatch(answer);
    expect(await shown('Python')).toContain(`base_url="${gateway.url}/v1", api_key="${secret}"`);
    expect(await outcomesOf('build')).toEqual(['completed', 'completed']);

    // One more from the page itself, so that it has handled the secret in every way.
    await dialog.getByRole('button', { name: 'Test' }).click();
    await dialog.getByRole('link', { name: 'Its receipt' }).waitFor();
    await done();
    expect(await outcomesOf('build')).toHaveLength(3);
    const kept = {
      page: await page.content(),
      addresses: [...sent, page.url()].join('\n'),
      storage: JSON.stringify(await page.context().storageState({ indexedDB: true })),
      session: await page.evaluate('JSON.stringify([sessionStorage, history.state, window.name])'),
      cache: await page.evaluate(readCache),
      log: inspect(logged, { depth: null, maxStringLength: null, maxArrayLength: null }),
      files: storedFiles(),
    };
    // Both are really read: the cache has the list of keys, the log and the files the requests.
    expect(kept.cache).toContain('"name":"build"');
    expect(kept.log).toContain('build');
    expect(kept.files).toContain('build');
    for (const [place, text] of Object.entries(kept)) expect(text, place).not.toContain(secret);
    expect(complaints).toEqual([]);
  },
);

test.runIf(hasBrowser && hasPython)(
  'what is shown for Python runs as it stands (SLUICE_TEST_PYTHON: a Python with the package openai)',
  { timeout: 120_000 },
  async () => {
    const { shown, done } = await makeKey('script');
    writeFileSync(join(folder, 'hello.py'), await shown('Python'));
    await done();
    expect((await run(python, ['hello.py'], { cwd: folder })).stdout).toMatch(answer);
    expect(await outcomesOf('script')).toEqual(['completed']);
  },
);

/** The bytes of the database, its log and the journal. */
function storedFiles(): string {
  const directory = dirname(gateway.databaseUrl.replace(/^sqlite:/, ''));
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

/** What the cache of the pages holds, found through the tree of React. */
const readCache = `(() => {
  const [root] = Object.entries(document.getElementById('root'))
    .flatMap(([name, value]) => (name.startsWith('__reactContainer$') ? [value] : []));
  const next = [root];
  while (next.length > 0) {
    const fiber = next.pop();
    const client = fiber.memoizedProps?.client;
    if (client?.getQueryCache !== undefined)
      return JSON.stringify([
        client.getQueryCache().getAll().map(({ queryKey, state }) => [queryKey, state]),
        client.getMutationCache().getAll().map(({ state }) => state),
      ]);
    for (const each of [fiber.child, fiber.sibling]) if (each != null) next.push(each);
  }
  return '';
})()`;
