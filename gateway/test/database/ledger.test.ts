import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listTeams, listUsers, upsertTeam, upsertUser } from '#identity/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import {
  balances,
  creditAccount,
  fundingOf,
  postTransaction,
  type HolderAccount,
} from '#ledger/index.ts';
import { charge, record, recordAll } from '../journal/records.ts';
import { change, currentRevision, dialects, isSkipped, openTestDatabase } from './databases.ts';
import { team, user } from './samples.ts';

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('ledger', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let database: OpenDatabase;
    let ofUser: HolderAccount;
    let ofTeam: HolderAccount;
    beforeAll(async () => {
      opened = await openTestDatabase(dialect);
      ({ database } = opened);
      await change(database, async (file) => {
        await upsertUser(file, user);
        await upsertTeam(file, team);
      });
      ofUser = `user:${(await listUsers(database.kysely))[0]?.id}`;
      ofTeam = `team:${(await listTeams(database.kysely))[0]?.id}`;
    });
    afterAll(() => opened.close());

    const entries = () =>
      database.kysely.selectFrom('ledger_entries').selectAll().orderBy('account').execute();
    const balanceOf = async (account: HolderAccount) =>
      (await balances(database.kysely, [account])).get(account);

    it('opens an account with its balance, once', async () => {
      const opening = { kind: 'opening', actor: 'file', reason: null, time: 1_000 };
      const sides = (account: HolderAccount, amount: bigint) => [
        { ...opening, transaction_id: `opening:${account}`, account, amount },
        { ...opening, transaction_id: `opening:${account}`, account: 'funding', amount: -amount },
      ];
      const expected = [...sides(ofUser, 10_000_000_000n), ...sides(ofTeam, 100_000_000_000n)];
      expect(await entries()).toHaveLength(4);
      expect(await entries()).toEqual(expect.arrayContaining(expected));
      await change(database, async (file) => {
        await upsertUser(file, { ...user, name: 'Ada L.', balance: '99' });
        await upsertTeam(file, { ...team, rpm: 1, balance: '99' });
      });
      expect(await entries()).toHaveLength(4);
      expect(await balanceOf(ofUser)).toBe(10_000_000_000n);
    });

    it('credits and corrects with actor and reason, under a new revision', async () => {
      const before = await currentRevision(database);
      const shared = { account: ofUser, actor: 'ops@example.com', reason: 'invoice 7' } as const;
      await change(database, async (file) => {
        await creditAccount(file, { ...shared, amount: 5n, kind: 'top-up' });
        await creditAccount(file, { ...shared, amount: -2n, kind: 'correction' });
      });
      expect(await currentRevision(database)).toBe(before + 1);
      expect(await balanceOf(ofUser)).toBe(10_000_000_003n);
      const users = await database.kysely.selectFrom('users').selectAll().execute();
      expect(users).toMatchObject([{ revision: before + 1, opening_credit: 10_000_000_000n }]);
      expect(await entries()).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ account: 'operator-loss', amount: 2n, kind: 'correction' }),
          expect.objectContaining({ account: 'funding', amount: -5n, reason: 'invoice 7' }),
          expect.objectContaining({ account: ofUser, amount: 5n, actor: 'ops@example.com' }),
        ]),
      );
    });

    it('separates what was credited from what was spent', async () => {
      const window = '2026-11-21';
      const parts = { teamId: ofTeam.slice(5), charge: charge(7n, { payer: 'team', window }) };
      await recordAll(database, [record('req_1', parts)]);
      const { kysely } = database;
      expect((await fundingOf(kysely, [ofTeam])).get(ofTeam)).toBe(100_000_000_000n);
      expect(await balanceOf(ofTeam)).toBe(99_999_999_993n);
      expect(await balances(kysely, ['user:nobody'])).toEqual(new Map([['user:nobody', 0n]]));
      const sum = (await entries()).reduce((total, { amount }) => total + amount, 0n);
      expect(sum).toBe(0n);
    });

    it('handles more accounts at once than a statement accepts', async () => {
      const many = Array.from({ length: 40_000 }, (_, index): HolderAccount => `user:${index}`);
      const found = await fundingOf(database.kysely, [...many, ofTeam]);
      expect(found.size).toBe(40_001);
      expect(found.get(ofTeam)).toBe(100_000_000_000n);
    });

    it('refuses an unbalanced, empty or ownerless entry', async () => {
      const before = await entries();
      const shared = { kind: 'top-up', actor: 'test', reason: 'a test' } as const;
      const off = database.kysely.transaction().execute((trx) =>
        postTransaction(trx, {
          ...shared,
          id: 'tx_off',
          time: 0,
          amounts: new Map([
            ['revenue', 1n],
            ['funding', -2n],
          ]),
        }),
      );
      await expect(off).rejects.toThrow("the ledger transaction 'tx_off' is off by -1");
      const credit = (account: HolderAccount, amount: bigint) =>
        change(database, (file) => creditAccount(file, { ...shared, account, amount }));
      await expect(credit(ofUser, 0n)).rejects.toThrow('changes nothing');
      await expect(credit('team:none', 1n)).rejects.toThrow("there is no account 'team:none'");
      expect(await entries()).toEqual(before);
    });

    it('never changes or removes an entry, whoever asks', async () => {
      const before = await entries();
      for (const text of ['update ledger_entries set amount = 0', 'delete from ledger_entries']) {
        await expect(sql.raw(text).execute(database.kysely)).rejects.toThrow('append-only');
      }
      expect(await entries()).toEqual(before);
    });
  });
});
