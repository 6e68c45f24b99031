import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createKey,
  disableKey,
  disableUser,
  findKey,
  findUserByEmail,
  isKeySecret,
  listKeys,
  listTeams,
  listUsers,
  revokeKey,
  rotateKey,
  upsertKey,
  upsertTeam,
  upsertUser,
} from '#identity/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import {
  change,
  currentRevision,
  dialects,
  isSkipped,
  openTestDatabase,
  testSecrets,
} from './databases.ts';
import { key, team, user } from './samples.ts';

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('accounts', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let database: OpenDatabase;
    beforeAll(async () => {
      opened = await openTestDatabase(dialect);
      ({ database } = opened);
    });
    afterAll(() => opened.close());

    it('applying declarations again changes nothing', async () => {
      const apply = () =>
        change(database, async (file) => [
          await upsertUser(file, user),
          await upsertTeam(file, team),
          await upsertKey(file, { ...key, team: 'research' }),
        ]);
      expect(await apply()).toEqual(['created', 'created', 'created']);
      const revision = await currentRevision(database);
      expect(await apply()).toEqual(['unchanged', 'unchanged', 'unchanged']);
      expect(await currentRevision(database)).toBe(revision);

      expect(await listUsers(database.kysely)).toMatchObject([user]);
      expect(await listTeams(database.kysely)).toMatchObject([team]);
      const { secret: _, ...visible } = key;
      expect(await findKey(database.kysely, 'ci')).toMatchObject({
        ...visible,
        team: 'research',
        prefix: 'sk-0123…cdef',
        hasSecret: true,
        owner: 'file',
      });
    });

    it('writes each change under one new revision, and keeps the opening credit', async () => {
      const before = await currentRevision(database);
      const outcome = await change(database, async (file) => [
        await upsertUser(file, { ...user, name: 'Ada L.', balance: '99' }),
        await upsertTeam(file, { ...team, members: [] }),
        await upsertKey(file, { ...key, rpm: 61 }),
      ]);
      expect(outcome).toEqual(['updated', 'updated', 'updated']);
      expect(await currentRevision(database)).toBe(before + 1);
      expect(await findUserByEmail(database.kysely, ' ADA@example.com')).toMatchObject({
        name: 'Ada L.',
        balance: '10',
      });
      expect(await listTeams(database.kysely)).toMatchObject([{ members: [] }]);
    });

    it('applies all or nothing', async () => {
      const failing = change(database, async (file) => {
        await upsertUser(file, { ...user, email: 'new@example.com' });
        await upsertKey(file, { ...key, name: 'other', user: 'nobody@example.com' });
      });
      await expect(failing).rejects.toThrow(
        "key 'other': user 'nobody@example.com' does not exist",
      );
      expect(await findUserByEmail(database.kysely, 'new@example.com')).toBeNull();
    });

    it('refuses to change a row of another owner', async () => {
      const byConsole = change(
        database,
        (console) => upsertUser(console, { ...user, name: 'Eve' }),
        'console',
      );
      await expect(byConsole).rejects.toThrow(
        "user 'ada@example.com' is managed in the configuration file and cannot be changed here",
      );
    });

    it('stores a new secret as its hash only', async () => {
      const { secret, key: made } = await change(
        database,
        (console) => createKey(console, { ...key, name: 'console key' }),
        'console',
      );
      expect(isKeySecret(secret)).toBe(true);
      expect(secret).toMatch(/^sk-[0-9A-Za-z]{40}sluice[0-9A-Za-z]{6}$/);
      expect(made.prefix).toBe(`${secret.slice(0, 7)}…${secret.slice(-4)}`);
      const rows = await database.kysely.selectFrom('keys').selectAll().execute();
      const text = JSON.stringify(rows, (_, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      );
      expect(text).not.toContain(secret);
      expect(text).not.toContain(key.secret);
      expect(text).toContain(testSecrets.hashKey(secret));
    });

    it('gives a secret to a key declared without one, which the file then leaves alone', async () => {
      const declared = { ...key, name: 'late', secret: null };
      await change(database, (file) => upsertKey(file, declared));
      expect(await findKey(database.kysely, 'late')).toMatchObject({
        hasSecret: false,
        prefix: '',
      });
      await change(database, (console) => createKey(console, declared), 'console');
      const rotated = await change(database, (console) => rotateKey(console, 'late', 0), 'console');
      expect(rotated.key).toMatchObject({ owner: 'file', secretOwner: 'console' });
      expect(await change(database, (file) => upsertKey(file, declared))).toBe('unchanged');
      const again = change(database, (console) => createKey(console, declared), 'console');
      await expect(again).rejects.toThrow("key 'late' already exists");
      const ofTheFile = change(database, (console) => rotateKey(console, 'ci', 0), 'console');
      await expect(ofTheFile).rejects.toThrow('is managed in the configuration file');
    });

    it('refuses one secret for two keys', async () => {
      const second = change(database, (file) => upsertKey(file, { ...key, name: 'twin' }));
      await expect(second).rejects.toThrow("keys 'ci' and 'twin' have the same secret");
    });

    it('disables and revokes once', async () => {
      expect(await change(database, (file) => disableUser(file, user.email))).toBe(true);
      expect(await change(database, (file) => disableUser(file, user.email))).toBe(false);
      expect(await change(database, (file) => disableKey(file, 'ci'))).toBe(true);
      expect(await change(database, (console) => revokeKey(console, 'ci'), 'console')).toBe(true);
      expect(await change(database, (console) => revokeKey(console, 'ci'), 'console')).toBe(false);
      expect(await findKey(database.kysely, 'ci')).toMatchObject({
        enabled: false,
        revokedAt: 1_000,
      });
    });

    it('lists keys in pages', async () => {
      const all = await listKeys(database.kysely);
      const first = await listKeys(database.kysely, { limit: 1 });
      const rest = await listKeys(database.kysely, { after: first[0]?.name ?? '' });
      expect([...first, ...rest]).toEqual(all);
      expect(await listKeys(database.kysely, { owner: 'console' })).toHaveLength(1);
      expect(await listKeys(database.kysely, { user: '%' })).toEqual([]);
    });
  });
});
