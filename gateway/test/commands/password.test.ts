import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { verifyPassword } from '#database/index.ts';
import { createWorkplace } from './support.ts';

test('a new password is printed once, is the one that counts, and ends sessions', async () => {
  const { sluice, json, folder } = createWorkplace('users: [{ email: ada@example.com }]\n');
  await sluice('apply');
  const database = new DatabaseSync(join(folder, 'data/sluice.db'));
  const hash = () =>
    String(database.prepare('select password_hash as hash from users').get()?.['hash']);
  const sessions = () => database.prepare('select count(*) as n from sessions').get()?.['n'];
  database.exec(
    `insert into sessions select 'x', id, role, null, null, 0, 0 from users where email = 'ada@example.com'`,
  );
  expect(sessions()).toBe(1);

  const { email, password } = (await json('user', 'password', 'Ada@Example.com')) as {
    readonly email: string;
    readonly password: string;
  };
  expect(email).toBe('ada@example.com');
  expect(await verifyPassword(password, hash())).toBe(true);
  expect(sessions()).toBe(0);

  const { out } = await sluice('user', 'password', email);
  expect(out).toMatch(/^ada@example\.com [\w-]{16}\n$/);
  expect(await verifyPassword(password, hash())).toBe(false);
  database.close();
});

test('nobody gets a password who does not exist', async () => {
  const { sluice } = createWorkplace('users: [{ email: ada@example.com }]\n');
  await sluice('apply');
  expect(await sluice('user', 'password', 'eve@example.com')).toEqual({
    code: 1,
    out: '',
    err: "sluice: user 'eve@example.com' does not exist\n",
  });
});
