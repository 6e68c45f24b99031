import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAudit } from '#administration/index.ts';
import { permissionsOf } from '#console-api/contract/index.ts';
import { permissions, roles } from '#console-api/contract/permissions.ts';
import { statuses } from '#console-api/errors.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import { ask, password, secrets, startWithPeople } from './people.ts';

/* What docs/administration.md shows is run as it appears there. */

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../../..');
const page = await readFile(join(root, 'docs/administration.md'), 'utf8');
/** Examples, with the heading that each stands below. */
const blocks = page.split(/^## /m).flatMap((part) => {
  const heading = part.split('\n', 1)[0]!;
  return Array.from(part.matchAll(/```sh\n(.*?)```/gs), ([, lines = '']) => ({ heading, lines }));
});

let gateway: TestGateway;
let folder: string;
beforeAll(async () => {
  gateway = await startWithPeople();
  folder = await mkdtemp(join(tmpdir(), 'sluice-page-'));
});
afterAll(async () => {
  await gateway.close();
  await rm(folder, { recursive: true });
});

/** Rows of the table whose header begins like this, as cells. */
function rowsAfter(header: string): string[][] {
  const lines = page.split('\n');
  const start = lines.findIndex((line) => line.startsWith(header));
  const end = lines.findIndex((line, index) => index > start && line === '');
  return lines.slice(start + 2, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

test('the examples of the page, run one after the other, do what it says', async () => {
  // Something that the examples of reading find.
  await ask(gateway, secrets.admin);
  await gateway.usage();
  const [settings, ...examples] = blocks;
  const names = Array.from(settings!.lines.matchAll(/export (\w+)=/g), ([, name]) => name);
  expect(names).toEqual(['GATEWAY', 'EMAIL', 'PASSWORD']);

  const script = [
    'set -e',
    // The output of each example follows its heading.
    ...examples.map(({ heading, lines }) => `printf '\\n## ${heading}\\n'\n${lines}`),
    String.raw`printf '\n## end\n%s\n%s\n' "$SECRET" "$ID"`,
  ];
  const { stdout, stderr } = await run('sh', ['-c', script.join('\n')], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      TMPDIR: folder,
      GATEWAY: gateway.url,
      EMAIL: 'admin@example.com',
      PASSWORD: password,
    },
  });
  expect(stderr).toBe('');
  /** What the examples below a heading printed. */
  const printed = (heading: string) => {
    const parts = stdout.split(`## ${heading}\n`).slice(1);
    expect([heading, parts.length > 0]).toEqual([heading, true]);
    return parts.map((part) => part.split(/^## /m)[0]!.trimEnd());
  };
  expect(JSON.parse(printed('A session from a script').at(-1)!)).toMatchObject({
    email: 'admin@example.com',
    role: 'admin',
  });
  const [automated] = printed('Admin keys');
  expect(automated).toMatch(/^"\d/);
  expect(automated).toMatch(/"name": "terraform",\s+"role": "admin",\s+"prefix": "sa-/);
  expect(automated).toContain('"email": "admin@example.com"');
  const [sums, keys] = printed('Reading');
  expect(sums).toContain('"key": "admins"');
  expect(keys).toMatch(/^admins\tadmin@example\.com\t/);
  expect(printed('The own account')[0]).toMatch(/^person\tadmin@example\.com\tbalance\t100\t0\./);
  const [made, changed, ended, entry] = printed('Keys');
  expect(made).toBe('');
  expect(JSON.parse(changed!)).toMatchObject({ name: 'ci', quota: '50', rpm: null });
  expect(ended).toMatch(/^"\d{4}-/);
  expect(entry).toMatch(/^- name: ci\n/);
  const [channels] = printed('Channels');
  expect(channels).toContain('"class": "no-connection"');
  expect(channels).toMatch(/"name": "east",\s+"priority": 10/);
  const [models] = printed('Models');
  expect(models).toContain('"owner": "console"');
  expect(models).toContain('"price_multiplier": "1.5"');
  const [people] = printed('People');
  expect(people).toMatch(/^20\d\d-/);
  expect(people).toMatch(/"role": "viewer",\s+"invited_until": "20/);
  const [team, members] = printed('Teams');
  expect(members).toMatch(/"user": "vera@example\.com"[^}]+"limit": \{\s+"limit": "50"/);
  expect(team).toMatch(/"300"$/);
  expect(printed('Accounts')[0]).toContain('"reason": "first month"');
  expect(printed('Books')[0]).toMatch(/"total": "0".*"differences": 0,/s);
  expect(printed('Video tasks')[0]).toContain('"open": 0');
  const [configuration] = printed('The configuration');
  expect(configuration).toMatch(/^storage\.url\t"sqlite:.*"\t3$/m);
  expect(configuration).toContain('"ok": false');
  expect(configuration).toContain('but was created in the console');
  expect(await readFile(join(folder, 'exported.yaml'), 'utf8')).toContain('provider: simulator');
  expect(printed('Who changed what')[0]).toMatch(/Z\tkey\.revoke\tci$/m);
  expect(await readFile(join(folder, 'audit.csv'), 'utf8')).toMatch(/^id,time,actor_kind,/);
  expect(await readFile(join(folder, 'refused.csv'), 'utf8')).toMatch(/^time,|^id,/);

  const [secret, id] = printed('end')[0]!.split('\n');
  expect(secret).toMatch(/^sk-/);
  const lines = await listAudit(gateway.app.database.kysely, { object: id!, limit: 10 });
  expect(lines.map(({ action }) => action)).toEqual([
    'key.revoke',
    'key.rotate',
    'key.update',
    'key.create',
  ]);
});

test('the page has every role with its permissions', () => {
  expect(rowsAfter('| Permission ').map(([name, , ...cells]) => [name, ...cells])).toEqual(
    permissions.map((permission) => [
      permission,
      ...roles.map((role) => (permissionsOf(role).includes(permission) ? 'yes' : '')),
    ]),
  );
});

test('the page has every error with its status', () => {
  expect(rowsAfter('| Status ').map(([status, code]) => [code, Number(status)])).toEqual(
    Object.entries(statuses),
  );
});
