import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { createWorkplace } from './support.ts';

const file = `groups: [{ name: vip }]
models: [{ id: fast, type: chat }]
aliases: { helper: fast }
users: [{ email: ada@example.com }, { email: gone@example.com, enabled: false }]
teams: [{ name: research }]
keys: [{ name: declared, user: ada@example.com, rpm: 5 }]
`;

async function applied() {
  const workplace = createWorkplace(file);
  await workplace.sluice('apply');
  return workplace;
}

const ada = ['--user', 'Ada@example.com'] as const;

test('a key is created with every setting and shown once', async () => {
  const { json, sluice, folder } = await applied();
  const options =
    '--team research --group vip --model fast --model helper --quota 5.00 --ip 10.0.0.0/8 --ip ::1 ' +
    '--expires-at 2027-01-01T00:00:00Z --rpm 60 --rph 0 --max-concurrency 2 --conversion strict';
  const created = await json('key', 'create', ...ada, '--name', 'ci', ...options.split(' '));
  expect(created).toEqual({
    id: expect.stringMatching(/^key_/),
    name: 'ci',
    key: expect.stringMatching(/^sk-.{32,}$/),
    user: 'ada@example.com',
    team: 'research',
    group: 'vip',
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  const { key, ...rest } = created as { key: string };
  const list = (await json('key', 'list')) as { name: string }[];
  expect(list[0]).toEqual({
    ...rest,
    prefix: `${key.slice(0, 7)}…${key.slice(-4)}`,
    enabled: true,
  });
  expect(list.map(({ name }) => name)).toEqual(['ci', 'declared']);
  const { keys } = parse((await sluice('export')).out) as { keys: { name: string }[] };
  expect(keys.find(({ name }) => name === 'ci')).toEqual({
    name: 'ci',
    user: 'ada@example.com',
    team: 'research',
    group: 'vip',
    models: ['fast', 'helper'],
    quota: '5',
    expires_at: '2027-01-01T00:00:00.000Z',
    ips: ['10.0.0.0/8', '::1'],
    rpm: 60,
    rph: 0,
    max_concurrency: 2,
    conversion: 'strict',
  });
  expect(readFileSync(join(folder, 'data/sluice.db')).includes(key)).toBe(false);
});

test('a declared key without a secret gets one and keeps its settings', async () => {
  const { json, sluice } = await applied();
  await json('key', 'create', ...ada, '--name', 'declared');
  expect((await sluice('plan')).out).toBe('nothing to change\n');
  const again = await sluice('key', 'create', ...ada, '--name', 'declared');
  expect(again).toEqual({ code: 1, out: '', err: "sluice: key 'declared' already exists\n" });
});

test.each([
  [['--user', 'eve@example.com'], "user 'eve@example.com' does not exist"],
  [['--user', 'gone@example.com'], "user 'gone@example.com' does not exist"],
  [[...ada, '--team', 'red'], "team 'red' does not exist"],
  [[...ada, '--group', 'gold'], "group 'gold' does not exist"],
  [[...ada, '--model', 'slow'], "model 'slow' does not exist"],
])('%j names something that does not exist', async (options, message) => {
  const { sluice } = await applied();
  const outcome = await sluice('key', 'create', '--name', 'x', ...options);
  expect(outcome).toEqual({ code: 1, out: '', err: `sluice: ${message}\n` });
});

test.each([
  [['--rpm', 'many'], '--rpm: expected a whole number from 0 to 1000000000, got "many"'],
  [['--quota', '-1'], '--quota needs a value; write a value that begins with - as --quota=-…'],
  [['--ip', 'here'], '--ip: expected an address or a range such as 10.0.0.0/8, got "here"'],
  [
    ['--expires-at', 'soon'],
    '--expires-at: expected a time with its zone such as 2027-01-01T00:00:00Z, got "soon"',
  ],
])('%j is a mistake in the command line', async (options, message) => {
  const { sluice } = await applied();
  const { code, err } = await sluice('key', 'create', ...ada, '--name', 'x', ...options);
  expect(err).toContain(message);
  expect(code).toBe(2);
});

test('a revoked key is listed as not enabled', async () => {
  const { sluice, json } = await applied();
  await json('key', 'create', ...ada, '--name', 'short');
  expect(await sluice('key', 'revoke', 'short')).toMatchObject({
    code: 0,
    out: "key 'short' is revoked\n",
  });
  expect(await sluice('key', 'revoke', 'short')).toMatchObject({
    code: 0,
    out: "key 'short' was already revoked\n",
  });
  expect(await json('key', 'list', '--user', 'ada@example.com')).toMatchObject([
    { name: 'declared' },
    { name: 'short', enabled: false },
  ]);
  expect(await sluice('key', 'revoke', 'nothing')).toMatchObject({
    code: 1,
    err: "sluice: key 'nothing' does not exist\n",
  });
});

test('a key gets a new secret, the old one its grace period, and file-declared secrets stay in the file', async () => {
  const { sluice, json, write } = await applied();
  const { key: first } = (await json('key', 'create', ...ada, '--name', 'ci')) as { key: string };
  const before = Date.now();
  const rotated = (await json('key', 'rotate', 'ci', '--grace', '30m')) as Record<string, string>;
  expect(rotated).toMatchObject({ name: 'ci', user: 'ada@example.com' });
  expect(rotated['key']).toMatch(/^sk-.{32,}$/);
  expect(rotated['key']).not.toBe(first);
  const until = Date.parse(rotated['previous_valid_until'] ?? '');
  expect(until).toBeGreaterThanOrEqual(before + 1_800_000);
  expect(until).toBeLessThanOrEqual(Date.now() + 1_800_000);
  // By id, and without any output about the old secret.
  const atOnce = await sluice('key', 'rotate', rotated['id'] ?? '', '--grace', '0s');
  expect(atOnce.out).toMatch(
    /^key 'ci' of ada@example.com, shown only once:\nsk-\S+\nthe old secret is no longer valid\n$/,
  );
  expect((await sluice('key', 'rotate', 'ci')).out).toContain('the old secret is valid until ');

  expect(await sluice('key', 'rotate', 'nothing')).toMatchObject({
    code: 1,
    err: "sluice: key 'nothing' does not exist\n",
  });
  for (const grace of ['soon', '91d', '10']) {
    const mistake = await sluice('key', 'rotate', 'ci', '--grace', grace);
    expect(mistake.code).toBe(2);
    expect(mistake.err).toContain(`--grace: expected a time up to 90d such as 24h or 30m`);
  }
  write(file.replace('rpm: 5', `secret: sk-${'f'.repeat(40)}`));
  await sluice('apply');
  expect(await sluice('key', 'rotate', 'declared')).toMatchObject({
    code: 1,
    err: "sluice: the secret of key 'declared' is managed in the configuration file and cannot be changed here\n",
  });
});

test('usage is a page, initially empty', async () => {
  const { sluice, json } = await applied();
  expect(await json('usage', '--from', '2026-01-01T00:00:00Z')).toEqual({ data: [], next: null });
  expect((await sluice('usage')).out).toMatch(/^TIME +KEY +MODEL/);
});
