import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import type { AuditLine } from '#administration/index.ts';
import { createWorkplace } from './support.ts';

interface Page {
  readonly data: readonly AuditLine[];
  readonly next: string | null;
}

test('every change by the file and by commands is on record, newest first, without a secret', async () => {
  const file = 'users: [{ email: ada@example.com }]\n';
  const { sluice, json, write } = createWorkplace(file);
  await sluice('apply');
  const made = (await json('key', 'create', '--name', 'laptop', '--user', 'ada@example.com')) as {
    readonly key: string;
  };
  const rotated = (await json('key', 'rotate', 'laptop')) as { readonly key: string };
  const set = (await json('user', 'password', 'ada@example.com')) as { readonly password: string };
  await json('user', 'credit', 'ada@example.com', '5', '--reason', 'invoice 7');
  write(file.replace(' }', ', quota: 5 }'));
  await sluice('apply');

  const all = (await json('audit')) as Page;
  expect(all.next).toBeNull();
  expect(all.data.map(({ actor, action, object }) => [actor.kind, action, object.name])).toEqual([
    ['file', 'user.update', 'ada@example.com'],
    ['command', 'user.credit', 'ada@example.com'],
    ['command', 'user.update', 'ada@example.com'],
    ['command', 'key.rotate', 'laptop'],
    ['command', 'key.create', 'laptop'],
    ['file', 'group.create', 'default'],
    ['file', 'user.create', 'ada@example.com'],
  ]);
  expect(all.data[0]?.changes).toEqual([{ field: 'quota', before: null, after: '5' }]);
  expect(all.data[1]).toMatchObject({ reason: 'invoice 7', actor: { address: null } });
  expect(all.data[2]?.changes).toEqual([{ field: 'password', before: null, after: 'changed' }]);
  expect(all.data[3]?.object.id).toMatch(/^key_/);
  for (const secret of [made.key, rotated.key, set.password]) {
    expect(JSON.stringify(all)).not.toContain(secret);
  }

  const keys = (await json('audit', '--action', 'key', '--limit', '1')) as Page;
  expect(keys.data.map(({ action }) => action)).toEqual(['key.rotate']);
  const rest = (await json('audit', '--action', 'key', '--cursor', keys.next ?? '')) as Page;
  expect(rest.data.map(({ action }) => action)).toEqual(['key.create']);
  const named = (await json('audit', '--object', 'laptop', '--actor', 'command line')) as Page;
  expect(named.data).toHaveLength(2);
  const { out } = await sluice('audit', '--limit', '1');
  expect(out).toMatch(/^TIME .*user\.update +ada@example\.com +quota: 5\nmore: --cursor \d+\n$/s);
});

test('a wrong number is refused', async () => {
  const { sluice } = createWorkplace('users: []\n');
  expect(await sluice('audit', '--limit', '0')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--limit: expected a whole number from 1 to 1000'),
  });
});

test('of the file and of commands, the user of the process is on record', async () => {
  const { sluice, json } = createWorkplace('users: [{ email: ada@example.com }]\n');
  await sluice('apply');
  const { username } = userInfo();
  const byFile = { kind: 'file', name: 'sluice.yaml', user: username };
  const { data } = (await json('audit', '--actor', username)) as Page;
  expect(data.map(({ actor }) => actor)).toMatchObject([byFile, byFile]);
  expect((await sluice('audit')).out).toContain(` sluice.yaml (${username}) `);
});

test('user erase needs a confirmation, and a file that does not name the person', async () => {
  const { sluice, json, write } = createWorkplace('');
  await sluice('apply');
  await json('user', 'create', 'ada@example.com', '--name', 'Ada Lovelace');
  expect(await sluice('user', 'erase', 'ada@example.com')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--yes is required where nobody can be asked'),
  });
  write('users: [{ email: Ada@example.com }]\n');
  const named = await sluice('user', 'erase', 'ada@example.com', '--yes');
  expect([named.code, named.err]).toEqual([1, expect.stringContaining('it still has')]);
  write('');
  const erased = (await json('user', 'erase', 'ADA@example.com', '--yes')) as { email: string };
  expect(erased).toMatchObject({ email: expect.stringMatching(/^usr_\w+@erased\.invalid$/) });
  expect((await sluice('user', 'list')).out).toMatch(
    new RegExp(`^${erased.email} +member +console +disabled$`, 'm'),
  );
  expect((await sluice('audit')).out).toContain('user.erase');
});

test('users and teams are listed, and users disabled once', async () => {
  const { sluice, json } = createWorkplace(
    'users: [{ email: of@file.example }]\nteams: [{ name: research, budget: { daily: 5 }, members: [{ user: of@file.example }] }]\n',
  );
  await sluice('apply');
  await json('user', 'create', 'ada@example.com', '--name', 'Ada');
  expect((await sluice('team', 'list')).out).toMatch(/^research +1 +5 +UTC +file +enabled$/m);
  expect(await json('team', 'list')).toMatchObject([
    { name: 'research', time_zone: 'UTC', members: [{ user: 'of@file.example' }] },
  ]);
  expect((await sluice('user', 'disable', 'Ada@example.com')).out).toContain('is disabled');
  expect((await sluice('user', 'disable', 'ada@example.com')).out).toContain(
    'was already disabled',
  );
  expect(await sluice('user', 'disable', 'of@file.example')).toMatchObject({
    code: 1,
    err: expect.stringContaining('is managed in the configuration file'),
  });
  expect(await json('user', 'list')).toMatchObject([
    { email: 'ada@example.com', name: 'Ada', enabled: false, owner: 'console' },
    { email: 'of@file.example', enabled: true, owner: 'file' },
  ]);
  expect(await json('audit', '--action', 'user.disable')).toMatchObject({
    data: [{ object: { name: 'ada@example.com' }, actor: { kind: 'command' } }],
  });
});
