import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createKey,
  createKeyDirectory,
  isUsable,
  revokeKey,
  rotateKey,
  upsertKey,
  upsertUser,
  type LoadedKeyDirectory,
} from '#identity/index.ts';
import { createDatabaseBreaker, type OpenDatabase } from '#database/index.ts';
import {
  change,
  dialects,
  isSkipped,
  openTestDatabase,
  testSecrets,
  watchByHand,
} from './databases.ts';
import { key, user } from './samples.ts';

const grace = 60_000;
/** `change` makes every change at this time. */
const rotatedAt = 1_000;

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('a rotated key', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let database: OpenDatabase;
    /** Has all keys in memory. */
    let loaded: LoadedKeyDirectory;

    const openDirectory = () => {
      const watch = watchByHand(database);
      return createKeyDirectory({
        database,
        breaker: createDatabaseBreaker(),
        secrets: testSecrets,
        watch,
        now: () => rotatedAt,
      });
    };

    beforeAll(async () => {
      opened = await openTestDatabase(dialect);
      database = opened.database;
      await change(database, async (file) => {
        await upsertUser(file, user);
        await upsertKey(file, key);
      });
      loaded = openDirectory();
      await loaded.load();
    });
    afterAll(() => opened.close());

    const make = async (name: string, expiresAt: number | null = null): Promise<string> => {
      const settings = { ...key, name, expiresAt };
      const made = await change(database, (console) => createKey(console, settings), 'console');
      await loaded.refresh();
      return made.secret;
    };
    const rotate = async (name: string, period: number): Promise<string> => {
      const rotated = await change(
        database,
        (console) => rotateKey(console, name, period),
        'console',
      );
      await loaded.refresh();
      return rotated.secret;
    };
    /** From when on a secret is refused, as a node sees it that has it in memory and as one that looks it up. */
    const endOf = async (secret: string): Promise<readonly [number | null, number | null]> => {
      await loaded.refresh();
      const ends = [];
      for (const directory of [loaded, openDirectory()]) {
        const caller = await directory.find(secret);
        const at = [rotatedAt, rotatedAt + 500, rotatedAt + grace, 2 ** 50];
        const end = at.find((time) => caller === null || !isUsable(caller, time));
        ends.push(end ?? null);
      }
      return [ends[0]!, ends[1]!];
    };
    const always = [null, null];
    const never = [rotatedAt, rotatedAt];

    it('accepts the new secret and, during the grace period, the old one', async () => {
      const first = await make('rotated');
      expect(await endOf(first)).toEqual(always);
      const second = await rotate('rotated', grace);
      expect(await endOf(second)).toEqual(always);
      expect(await endOf(first)).toEqual([rotatedAt + grace, rotatedAt + grace]);
      const [old, present] = [await loaded.find(first), await loaded.find(second)];
      expect(old).toEqual({ ...present, expiresAt: rotatedAt + grace });
    });

    it('has at most one old secret', async () => {
      const first = await make('twice');
      const second = await rotate('twice', grace);
      const third = await rotate('twice', grace);
      expect(await endOf(first)).toEqual(never);
      expect(await endOf(second)).toEqual([rotatedAt + grace, rotatedAt + grace]);
      expect(await endOf(third)).toEqual(always);
    });

    it('drops the old one at once without grace', async () => {
      const first = await make('at-once');
      const second = await rotate('at-once', grace);
      const third = await rotate('at-once', 0);
      for (const old of [first, second]) expect(await endOf(old)).toEqual(never);
      expect(await endOf(third)).toEqual(always);
    });

    it('does not live longer through rotation', async () => {
      const first = await make('short', rotatedAt + 500);
      await rotate('short', grace);
      expect(await endOf(first)).toEqual([rotatedAt + 500, rotatedAt + 500]);
    });

    it('is revoked with both secrets', async () => {
      const first = await make('revoked');
      const second = await rotate('revoked', grace);
      await change(database, (console) => revokeKey(console, 'revoked'), 'console');
      for (const secret of [first, second]) expect(await endOf(secret)).toEqual(never);
      await expect(rotate('revoked', grace)).rejects.toThrow(
        "key 'revoked' is revoked: create a new one",
      );
    });

    it('keeps others from taking its old secret', async () => {
      const first = await make('guarded');
      await rotate('guarded', grace);
      const twin = change(database, (file) =>
        upsertKey(file, { ...key, name: 'thief', secret: first }),
      );
      await expect(twin).rejects.toThrow("keys 'guarded' and 'thief' have the same secret");
    });

    it('cannot be a key in the file or without a secret', async () => {
      await expect(rotate('ci', grace)).rejects.toThrow(
        "the secret of key 'ci' is managed in the configuration file and cannot be changed here",
      );
      await change(database, (file) => upsertKey(file, { ...key, name: 'bare', secret: null }));
      await expect(rotate('bare', grace)).rejects.toThrow('has no secret yet');
    });

    it('is found by its old secret after a full load', async () => {
      const first = await make('reloaded');
      await rotate('reloaded', grace);
      const fresh = openDirectory();
      await fresh.load();
      expect(fresh.find(first)).toMatchObject({ keyName: 'reloaded' });
    });
  });
});
