import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '#commands/index.ts';
import { logWeakKeys } from '#commands/file-warnings.ts';
import { ownAccounts, startInFolder } from '../support/start-in-folder.ts';

const typed = `sk-${'production'.repeat(4)}`;
const random = 'sk-hV8mXw2KqZ5tR9bLc3NfYs7DgJp4TaWe';

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-weak-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(
    join(folder, 'sluice.yaml'),
    `server: { port: 0 }${ownAccounts}
keys:
  - { name: typed, user: administrator@example.com, secret: ${typed} }
  - { name: random, user: administrator@example.com, secret: ${random} }
`,
  );
  return folder;
}

async function check(...options: readonly string[]) {
  let out = '';
  let problems = '';
  const code = await run(['check', ...options], {
    stdout: (text) => void (out += text),
    stderr: (text) => void (problems += text),
    environment: {},
    workingDirectory: makeFolder(),
  });
  return { code, out, problems };
}

test('check warns of a typed secret but accepts the file', async () => {
  const { code, out, problems } = await check();
  expect([code, out]).toEqual([0, expect.stringMatching(/: ok\n$/)]);
  expect(problems).toBe(
    "warning: the secret of key 'typed' looks guessable (less than 128 random bits); generate one with: openssl rand -hex 24\n",
  );
  const { out: json } = await check('--json');
  expect(JSON.parse(json)).toMatchObject({
    ok: true,
    problems: [],
    warnings: [expect.stringContaining("'typed'")],
  });
});

test('a start logs the warning without the secret, and accepts the key', async () => {
  const { url, config } = await startInFolder(makeFolder());
  const logged: unknown[] = [];
  logWeakKeys(config, { warn: (message, fields) => void logged.push(message, fields) });
  expect(logged).toEqual([
    expect.stringContaining('look guessable'),
    { component: 'config', count: 1, detail: 'typed' },
  ]);
  const headers = { authorization: `Bearer ${typed}` };
  expect((await fetch(`${url}/v1/models`, { headers })).status).toBe(200);
});
