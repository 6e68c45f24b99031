import type { KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  createKey,
  createKeyDirectory,
  disableKey,
  disableUser,
  isUsable,
  revokeKey,
  upsertKey,
  upsertTeam,
  upsertUser,
  type Caller,
  type LoadedKeyDirectory,
} from '#identity/index.ts';
import { createDatabaseBreaker, openDatabase, type OpenDatabase } from '#database/index.ts';
import { GatewayError } from '#errors/index.ts';
import { creditAccount } from '#ledger/index.ts';
import {
  change,
  dialects,
  isSkipped,
  openTestDatabase,
  testSecrets,
  watchByHand,
} from './databases.ts';
import { countQueries } from './count-queries.ts';
import { key, team, user } from './samples.ts';

const secretOf = (text: string) => `sk-${text.padEnd(32, '0')}`;

const topUp = { amount: 7n, kind: 'top-up', actor: 'test', reason: 'a test' } as const;

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('key directory', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let database: OpenDatabase;
    let directory: LoadedKeyDirectory;
    let now = 5_000;
    const queries = countQueries();

    beforeAll(async () => {
      opened = await openTestDatabase(dialect);
      database = { ...opened.database, kysely: opened.database.kysely.withPlugin(queries) };
      await change(database, async (file) => {
        await upsertUser(file, user);
        await upsertKey(file, key);
      });
      directory = createKeyDirectory({
        database,
        breaker: (ask) => ask(),
        secrets: testSecrets,
        watch: watchByHand(database),
        now: () => now,
      });
      await directory.load();
    });
    afterAll(() => opened.close());

    const held = (secret: string) => {
      const found = directory.find(secret);
      if (found instanceof Promise) throw new Error('not in memory');
      return found;
    };

    it('answers a known key from memory with all its settings', () => {
      queries.reset();
      expect(held(key.secret ?? '')).toMatchObject({
        keyName: 'ci',
        user: { id: expect.any(String) as string, funding: 10_000_000_000n, quota: null },
        team: null,
        memberBudget: null,
        group: 'default',
        quota: 5_500_000_000n,
        models: new Set(['gpt-5']),
        ips: ['10.0.0.0/8'],
        rpm: 60,
        rph: null,
        maxConcurrency: 20,
        conversion: 'strict',
        enabled: true,
      } satisfies Partial<Caller>);
      expect(queries.count).toBe(0);
    });

    it('distinguishes keys that differ in only one place', async () => {
      const secret = key.secret ?? '';
      for (const index of [3, 20, secret.length - 1]) {
        const other = `${secret.slice(0, index)}X${secret.slice(index + 1)}`;
        expect(await directory.find(other)).toBeNull();
      }
    });

    it('does not query the database for a mistyped key unless a file declared it', async () => {
      const { secret: created } = await change(database, (file) =>
        createKey(file, { ...key, name: 'made' }),
      );
      const mistyped = `${created.slice(0, -1)}${created.endsWith('x') ? 'y' : 'x'}`;
      const declared = `sk-${'a'.repeat(40)}sluice000000`;
      await change(database, (file) => upsertKey(file, { ...key, name: 'odd', secret: declared }));
      await directory.refresh();
      queries.reset();
      expect(held(created)).toMatchObject({ keyName: 'made' });
      expect(held(mistyped)).toBeNull();
      expect(held(declared)).toMatchObject({ keyName: 'odd' });
      expect(queries.count).toBe(0);
    });

    it('looks an unknown key up once in 10 s, however many ask', async () => {
      queries.reset();
      const secret = secretOf('unknown');
      const callers = await Promise.all(
        Array.from({ length: 50 }, async () => directory.find(secret)),
      );
      expect(callers).toEqual(Array.from({ length: 50 }, () => null));
      expect(queries.count).toBe(1);
      now += 9_999;
      expect(held(secret)).toBeNull();
      expect(queries.count).toBe(1);
      now += 1;
      expect(await directory.find(secret)).toBeNull();
      expect(queries.count).toBe(2);
    });

    it('looks up many unknown keys in few queries', async () => {
      queries.reset();
      await Promise.all(
        Array.from({ length: 1_000 }, async (_, index) => directory.find(secretOf(`many${index}`))),
      );
      expect(queries.count).toBeLessThanOrEqual(4);
    });

    it('refuses an impossible key without a query', () => {
      queries.reset();
      const payloads = ['', 'sk-', 'key', ' sk-a', 'sk-a b', 'sk-é', `sk-${'a'.repeat(510)}`];
      for (const text of [...payloads, "sk-\n' or 1=1", 'sk-\0']) expect(held(text)).toBeNull();
      expect(queries.count).toBe(0);
    });

    it('treats SQL in a key as text', async () => {
      for (const text of ["sk-'or'1'='1", 'sk-%', 'sk-_', "sk-';drop/**/table/**/keys;--"]) {
        expect(await directory.find(text)).toBeNull();
      }
      expect(held(key.secret ?? '')).not.toBeNull();
    });

    it('finds a key created a moment ago', async () => {
      const secret = secretOf('fresh');
      await change(database, (file) => upsertKey(file, { ...key, name: 'fresh', secret }));
      expect(await directory.find(secret)).toMatchObject({ keyName: 'fresh' });
      expect(held(secret)).toMatchObject({ keyName: 'fresh' });
    });

    it('loads a new key with the next poll even while it is cached as unknown', async () => {
      const secret = secretOf('expected');
      expect(await directory.find(secret)).toBeNull();
      await change(database, (file) => upsertKey(file, { ...key, name: 'expected', secret }));
      expect(held(secret)).toBeNull();
      await directory.refresh();
      expect(held(secret)).toMatchObject({ keyName: 'expected' });
    });

    it('reads only changes', async () => {
      queries.reset();
      await directory.refresh();
      expect(queries.count).toBe(1);
      await change(database, (file) => disableKey(file, 'fresh'));
      queries.reset();
      await directory.refresh();
      // The revision, the key's id, the key, its user, and what the user was ever credited.
      expect(queries.rows).toBe(5);
      expect(held(secretOf('fresh'))).toMatchObject({ enabled: false });
    });

    it('loads a credit, and a team with its budgets', async () => {
      const { userId } = held(key.secret ?? '') ?? { userId: '' };
      await change(database, (file) =>
        creditAccount(file, { ...topUp, account: `user:${userId}` }),
      );
      await directory.refresh();
      expect(held(key.secret ?? '')).toMatchObject({ user: { funding: 10_000_000_007n } });

      const secret = secretOf('of-a-team');
      const acting = { ...key, team: 'research', name: 'of-a-team', secret, quota: null };
      await change(database, async (file) => {
        await upsertTeam(file, team);
        await upsertKey(file, acting);
        await upsertKey(file, { ...acting, name: 'second', secret: secretOf('second') });
      });
      await directory.refresh();
      const caller = held(secret);
      expect(caller).toMatchObject({
        quota: null,
        memberBudget: 50_000_000_000n,
        team: {
          name: 'research',
          funding: 100_000_000_000n,
          rpm: 600,
          dailyBudget: 20_000_000_000n,
          monthlyBudget: 300_000_000_001n,
          totalBudget: null,
          enabled: true,
          unleasedMost: null,
          timeZone: 'UTC',
          openWindow: null,
        },
      });
      const { teamId } = caller ?? { teamId: null };
      await change(database, (file) =>
        creditAccount(file, { ...topUp, account: `team:${teamId}`, amount: -1n }),
      );
      await change(database, (file) => upsertTeam(file, { ...team, members: [] }));
      await directory.refresh();
      expect(held(secret)).toMatchObject({
        memberBudget: null,
        team: { funding: 99_999_999_999n },
      });
      // One object for all keys of a team and of a user: there may be 100 000 of them.
      expect(held(secretOf('second'))?.team).toBe(held(secret)?.team);
      expect(held(secretOf('second'))?.user).toBe(held(secret)?.user);
    });

    it('forgets the old secret when a key gets a new one', async () => {
      const { secret: old } = { secret: secretOf('expected') };
      const secret = secretOf('replaced');
      await change(database, (file) => upsertKey(file, { ...key, name: 'expected', secret }));
      await directory.refresh();
      expect(held(secret)).toMatchObject({ keyName: 'expected' });
      expect(await directory.find(old)).toBeNull();
    });

    it('loads changes made during the first load', async () => {
      const secret = secretOf('revoked-meanwhile');
      await change(database, (file) => upsertKey(file, { ...key, name: 'meanwhile', secret }));
      const other = openDatabase({ url: opened.url });
      onTestFinished(() => other.close());
      const watch = watchByHand(other);
      let happens: (() => Promise<void>) | null = async () => {
        await change(other, (file) => revokeKey(file, 'meanwhile'));
        await watch.poll();
      };
      // Between the reading of the first page and its arrival.
      const late: KyselyPlugin = {
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          const run = happens;
          happens = null;
          await run?.();
          return result;
        },
      };
      const starting = createKeyDirectory({
        database: { ...database, kysely: opened.database.kysely.withPlugin(late) },
        breaker: createDatabaseBreaker(),
        secrets: testSecrets,
        watch,
      });
      await starting.load();
      expect(starting.find(secret)).toMatchObject({ enabled: true });
      await starting.refresh();
      expect(starting.find(secret)).toMatchObject({ enabled: false });
    });

    it.each([1, 2])(
      'does not undo a revocation that came during the look-up, %i at once',
      async (count) => {
        const name = `looked-up-${count}`;
        const secret = secretOf(name);
        const answered = Promise.withResolvers<void>();
        const arrives = Promise.withResolvers<void>();
        const watch = watchByHand(database);
        const slow = createKeyDirectory({
          database,
          // The database has answered, and the response is still on its way.
          async breaker(ask) {
            const caller = await ask();
            answered.resolve();
            await arrives.promise;
            return caller;
          },
          secrets: testSecrets,
          watch,
        });
        await slow.load();
        await change(database, (file) => upsertKey(file, { ...key, name, secret }));
        const found = [slow.find(secret)];
        await answered.promise;
        await change(database, (file) => revokeKey(file, name));
        await watch.poll();
        if (count === 2) found.push(slow.find(secret));
        arrives.resolve();
        for (const each of found) expect(await each).toMatchObject({ enabled: false });
        expect(slow.find(secret)).toMatchObject({ enabled: false });
      },
    );

    it('disables a revoked key and every key of a disabled user', async () => {
      await change(database, (file) => revokeKey(file, 'expected'));
      await directory.refresh();
      expect(held(secretOf('replaced'))).toMatchObject({ enabled: false });
      expect(held(key.secret ?? '')).toMatchObject({ enabled: true });
      await change(database, (file) => disableUser(file, user.email));
      await directory.refresh();
      expect(held(key.secret ?? '')).toMatchObject({ enabled: false });
    });

    it('keeps its keys for ten minutes while the database is unreachable', async () => {
      const before = performance.now();
      await directory.refresh();
      const after = performance.now();
      await opened.database.close();
      const unknown = directory.find(secretOf('while-away'));
      await expect(unknown).rejects.toThrow(GatewayError);
      await expect(unknown).rejects.toMatchObject({ errorName: 'unavailable' });
      await expect(directory.refresh()).rejects.toBeInstanceOf(Error);
      now = before + 600_000;
      expect(held(key.secret ?? '')).not.toBeNull();
      now = after + 600_001;
      await expect(directory.find(key.secret ?? '')).rejects.toMatchObject({
        errorName: 'unavailable',
      });
    });
  });
});

describe('isUsable', () => {
  const caller = { enabled: true, expiresAt: 1_000 } as Caller;

  it.each([
    [caller, 999, true],
    [caller, 1_000, false],
    [{ ...caller, expiresAt: null }, 1_000, true],
    [{ ...caller, enabled: false }, 1, false],
  ])('%o at %d: %s', (tried, now, usable) => {
    expect(isUsable(tried, now)).toBe(usable);
  });
});
