import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Actor,
  type Administration,
  applyFile,
  type AuditEntry,
  createFirstAdministrator,
  createFirstKey,
  createKey,
  createUser,
  creditBalance,
  demoChannel,
  ensureDefaultGroup,
  type KeySettings,
  listKeys,
  offerChannels,
  Refusal,
  replacePassword,
  revokeKey,
  rotateKey,
  withdrawDemo,
} from '#administration/index.ts';
import { upsertChannel } from '#catalogue/index.ts';
import { parseConfig } from '#config/index.ts';
import { findKey, findUserByEmail, upsertUser } from '#identity/index.ts';
import { change, dialects, isSkipped, openTestDatabase, testSecrets } from './databases.ts';
import { channel, key, user } from './samples.ts';

const now = 1_800_000_000_000;
const actor: Actor = { kind: 'user', id: 'usr_1', email: 'root@example.com' };
const revision = { fingerprint: 'a', node: 'node_a' };
const { secret: _secret, ...sample } = key;
const settings: KeySettings = { ...sample, name: 'made', models: [] };

interface Recorded {
  readonly actor: Actor;
  readonly entry: AuditEntry;
  readonly isWithin: boolean;
}

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('use cases', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let administration: Administration;
    let records: Recorded[];

    beforeEach(async () => {
      opened = await openTestDatabase(dialect);
      records = [];
      administration = {
        database: opened.database,
        secrets: testSecrets,
        now: () => now,
        audit: async ({ trx }, by, entry) => {
          records.push({ actor: by, entry, isWithin: trx.isTransaction });
        },
      };
      await change(opened.database, (file) => upsertUser(file, user));
      return () => opened.close();
    });

    const kysely = () => opened.database.kysely;

    it('books one of many credits with the same idempotency key, and records one', async () => {
      const credit = { kind: 'user', holder: 'ada@example.com', amount: 5n, reason: 'x' } as const;
      const booked = await Promise.all(
        Array.from({ length: 6 }, () =>
          creditBalance(administration, actor, { ...credit, idempotencyKey: 'invoice 7' }),
        ),
      );
      expect(new Set(booked.map(({ transaction }) => transaction)).size).toBe(1);
      expect(new Set(booked.map(({ balance }) => balance)).size).toBe(1);
      expect(booked.filter(({ isRepeated }) => !isRepeated)).toHaveLength(1);
      expect(records).toHaveLength(1);
    });
    const entries = () => records.map(({ entry }) => entry);

    it('are recorded with who, what and every field, and never with a secret', async () => {
      const { secret, key: made } = await createKey(administration, actor, settings);
      await rotateKey(administration, actor, { key: made.id, grace: 60_000 });
      const last = await rotateKey(administration, actor, { key: 'made', grace: 0 });
      await creditBalance(administration, actor, {
        kind: 'user',
        holder: 'ADA@example.com',
        amount: -2_500_000_000n,
        reason: 'invoice 7',
      });
      await revokeKey(administration, actor, 'made');
      await createUser(administration, actor, { ...user, email: 'eve@example.com' });

      expect(records.every((record) => record.actor === actor && record.isWithin)).toBe(true);
      const secretField = { field: 'secret', before: null, after: null, secret: true };
      const subject = { kind: 'key', id: made.id, name: 'made' };
      const changed = (field: string, before: string | null, after: string | null) => ({
        field,
        before,
        after,
        secret: false,
      });
      expect(entries()).toEqual([
        {
          action: 'create',
          subject,
          fields: expect.arrayContaining([secretField, changed('rpm', null, '60')]),
        },
        {
          action: 'rotate',
          subject,
          fields: [
            secretField,
            changed(
              'previous_valid_until',
              'null',
              JSON.stringify(new Date(now + 60_000).toISOString()),
            ),
          ],
        },
        { action: 'rotate', subject, fields: [secretField] },
        {
          action: 'credit',
          subject: { kind: 'user', id: expect.any(String), name: 'ada@example.com' },
          fields: [changed('balance', '"10"', '"7.5"')],
          reason: 'invoice 7',
        },
        {
          action: 'revoke',
          subject,
          fields: [changed('revoked_at', 'null', JSON.stringify(new Date(now).toISOString()))],
        },
        {
          action: 'create',
          subject: { kind: 'user', id: expect.any(String), name: 'eve@example.com' },
          fields: expect.arrayContaining([changed('balance', null, '"10"')]),
        },
      ]);
      const text = JSON.stringify(records);
      for (const hidden of [secret, last.secret, testSecrets.hashKey(secret), made.prefix]) {
        expect(text).not.toContain(hidden);
      }
    });

    it.each([
      ['user', { user: 'nobody@example.com' }],
      ['team', { team: 'nobody' }],
      ['group', { group: 'nobody' }],
      ['model', { models: ['gpt-5', 'nobody'] }],
    ])('refuse a key whose %s does not exist', async (kind, wrong) => {
      const refused = createKey(administration, actor, { ...settings, ...wrong });
      await expect(refused).rejects.toThrow(Refusal);
      await expect(refused).rejects.toMatchObject({
        reason: 'missing',
        message: expect.stringMatching(new RegExp(`^${kind} 'nobody.*' does not exist$`)),
      });
      expect(await listKeys(administration)).toEqual([]);
      expect(records).toEqual([]);
    });

    it('refuse an address that has a user, and what does not exist', async () => {
      await expect(createUser(administration, actor, user)).rejects.toMatchObject({
        reason: 'taken',
        message: "user 'ada@example.com' already exists",
      });
      const credit = { amount: 1n, reason: 'x', holder: 'nobody' };
      const refusals = [
        () => revokeKey(administration, actor, 'nobody'),
        () => rotateKey(administration, actor, { key: 'nobody', grace: 0 }),
        () => creditBalance(administration, actor, { ...credit, kind: 'user' }),
        () => creditBalance(administration, actor, { ...credit, kind: 'team' }),
      ];
      for (const refused of refusals) {
        await expect(refused()).rejects.toMatchObject({ reason: 'missing' });
      }
      expect(records).toEqual([]);
    });

    it('refuse what a key, its owner or an account does not allow', async () => {
      const text = `users: [{ email: ada@example.com }]
keys: [{ name: late, user: ada@example.com }, { name: ours, user: ada@example.com, secret: ${key.secret} }]`;
      const { declared } = parseConfig(text, { file: 'f.yaml', environment: {} });
      await applyFile(administration, { kind: 'file', path: 'f.yaml' }, declared!, revision);
      await createKey(administration, actor, settings);
      await createKey(administration, actor, { ...settings, name: 'ended' });
      await revokeKey(administration, actor, 'ended');
      records.length = 0;
      const rotate = (key: string) => rotateKey(administration, actor, { key, grace: 0 });
      const refusals = [
        [() => createKey(administration, actor, settings), 'taken', "key 'made' already exists"],
        [() => rotate('ended'), 'state', "key 'ended' is revoked: create a new one"],
        [
          () => rotate('late'),
          'state',
          "key 'late' has no secret yet: 'sluice key create' gives it one",
        ],
        [
          () => rotate('ours'),
          'managed-elsewhere',
          "the secret of key 'ours' is managed in the configuration file and cannot be changed here",
        ],
        [
          () =>
            creditBalance(administration, actor, {
              kind: 'user',
              holder: 'ada@example.com',
              amount: 10n ** 18n,
              reason: 'x',
            }),
          'out-of-range',
          'the credits of an account come to 1000000000 USD at most',
        ],
      ] as const;
      for (const [refused, reason, message] of refusals) {
        await expect(refused()).rejects.toMatchObject({ name: 'Refusal', reason, message });
      }
      expect(records).toEqual([]);
    });

    it('refuse all but one of those that create the same name at once', async () => {
      const eve = { ...user, email: 'eve@example.com' };
      const together = async (create: () => Promise<unknown>, message: string) => {
        const ends = await Promise.allSettled(Array.from({ length: 8 }, create));
        const failed = ends.filter((end) => end.status === 'rejected');
        expect(failed).toHaveLength(7);
        for (const { reason } of failed) {
          expect(reason).toMatchObject({ name: 'Refusal', reason: 'taken', message });
        }
      };
      await together(() => createKey(administration, actor, settings), "key 'made' already exists");
      await together(
        () => createUser(administration, actor, eve),
        "user 'eve@example.com' already exists",
      );
      expect(records).toHaveLength(2);
    });

    it('of the first start are recorded as the gateway’s, and what they keep decides', async () => {
      const gateway: Actor = { kind: 'gateway' };
      const root = { ...user, email: 'root@example.com' };
      const kept: string[] = [];
      const keep = (id: string) => kept.push(id);
      const failing = () => {
        throw new Error('the disk is full');
      };
      const first = (onMade: (id: string) => void) =>
        createFirstAdministrator(administration, gateway, root, 'hash', onMade);
      const firstKey = (onMade: (id: string) => void) =>
        createFirstKey(administration, gateway, { ...settings, user: root.email }, onMade);
      await expect(first(failing)).rejects.toThrow('the disk is full');
      expect(await firstKey(keep)).toBeNull();
      expect(records).toEqual([]);

      await first(keep);
      expect(await first(keep)).toBeNull();
      await replacePassword(administration, gateway, { email: root.email, passwordHash: 'new' });
      await ensureDefaultGroup(administration, gateway);
      await ensureDefaultGroup(administration, gateway);
      await offerChannels(administration, gateway, [channel]);
      await offerChannels(administration, gateway, [channel]);
      await offerChannels(administration, gateway, [{ ...channel, name: demoChannel }]);
      await expect(firstKey(failing)).rejects.toThrow('the disk is full');
      await firstKey(keep);
      expect(await firstKey(keep)).toBeNull();
      await change(opened.database, (file) => upsertChannel(file, { ...channel, name: 'own' }));
      await withdrawDemo(administration, gateway);
      await withdrawDemo(administration, gateway);

      expect(kept).toHaveLength(2);
      expect(records.every(({ actor: by, isWithin }) => by === gateway && isWithin)).toBe(true);
      expect(
        entries().map(({ action, subject }) => `${action} ${subject.kind} ${subject.name}`),
      ).toEqual([
        'create user root@example.com',
        'update user root@example.com',
        'create group default',
        `create channel ${channel.name}`,
        'create channel demo',
        `disable channel ${channel.name}`,
        'create key made',
        'disable channel demo',
      ]);
      expect(await findKey(kysely(), 'made')).toMatchObject({ owner: 'system' });
      expect(JSON.stringify(records)).not.toContain('hash');
    });

    it('list keys', async () => {
      await createKey(administration, actor, settings);
      expect(await listKeys(administration)).toMatchObject([{ name: 'made' }]);
      expect(await listKeys(administration, { user: 'nobody@example.com' })).toEqual([]);
    });

    it('leave nothing behind when they cannot be recorded', async () => {
      const unrecorded: Administration = {
        ...administration,
        audit: async () => {
          throw new Error('the log is full');
        },
      };
      await expect(createKey(unrecorded, actor, settings)).rejects.toThrow('the log is full');
      expect(await findKey(kysely(), 'made')).toBeNull();
      const eve = { ...user, email: 'eve@example.com' };
      await expect(createUser(unrecorded, actor, eve)).rejects.toThrow('the log is full');
      expect(await findUserByEmail(kysely(), eve.email)).toBeNull();
    });

    it('record nothing where nothing changed', async () => {
      await createKey(administration, actor, settings);
      await revokeKey(administration, actor, 'made');
      records.length = 0;
      expect(await revokeKey(administration, actor, 'made')).toMatchObject({ changed: false });
      expect(records).toEqual([]);
    });

    it('apply a file as the file, and record its steps once', async () => {
      const text = `users: [{ email: ada@example.com, balance: 10, name: Ada L. }]
keys: [{ name: late, user: ada@example.com }]`;
      const { declared } = parseConfig(text, { file: 'f.yaml', environment: {} });
      const file: Actor = { kind: 'file', path: 'f.yaml' };
      const apply = () => applyFile(administration, file, declared!, revision);
      await apply();
      expect(records.every(({ actor: by }) => by === file)).toBe(true);
      expect(entries().map(({ action, subject }) => `${action} ${subject.kind}`)).toEqual([
        'update user',
        'create key',
        'create group',
      ]);
      expect(await findKey(kysely(), 'late')).toMatchObject({ owner: 'file' });
      await apply();
      expect(records).toHaveLength(3);
    });

    it('give a declared key its first secret, and record that alone', async () => {
      const text = 'keys: [{ name: made, user: ada@example.com }]';
      const { declared } = parseConfig(`users: [{ email: ada@example.com }]\n${text}`, {
        file: 'f.yaml',
        environment: {},
      });
      await applyFile(administration, { kind: 'file', path: 'f.yaml' }, declared!, revision);
      records.length = 0;
      const { key: made } = await createKey(administration, actor, settings);
      expect(made).toMatchObject({ owner: 'file', secretOwner: 'console', rpm: null });
      expect(entries()).toMatchObject([{ action: 'update', fields: [{ field: 'secret' }] }]);
    });
  });
});
