import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import {
  createKey,
  createUser,
  beginSecondFactor,
  creditBalance,
  eraseUser,
  listAudit,
  recordAudit,
  renameUser,
  replacePassword,
  signInByIdentity,
  type Actor,
} from '#administration/index.ts';
import { findKey, findUserByEmail, startSession, upsertTeam, upsertUser } from '#identity/index.ts';
import { reconcile, type Difference } from '#ledger/index.ts';
import { sumUsage } from '#usage/index.ts';
import { charge, record, recordAll } from '../journal/records.ts';
import { change, dialects, isSkipped, openTestDatabase, testSecrets } from './databases.ts';
import { key, team, user } from './samples.ts';

const command: Actor = { kind: 'command', name: 'command line' };
const { secret: _secret, ...settings } = key;

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('erasing a person', () => {
    async function used() {
      const { database, close } = await openTestDatabase(dialect);
      const now = () => 1_800_000_000_000;
      const administration = { database, secrets: testSecrets, audit: recordAudit, now };
      const { kysely } = database;
      const ada = await createUser(administration, command, { ...user, name: 'Ada Lovelace' });
      const person: Actor = { kind: 'user', id: ada.id, email: ada.email, address: '203.0.113.7' };
      await createUser(administration, command, { ...user, email: 'eve@example.com', name: 'Eve' });
      await change(database, (file) => upsertTeam(file, team));
      const own = { ...settings, name: 'key of Ada Lovelace' };
      const { key: made } = await createKey(administration, person, own);
      const others = { ...settings, name: 'beside', user: 'eve@example.com' };
      await createKey(administration, person, others);
      const renaming = { email: ada.email, name: 'Countess' };
      await renameUser(administration, command, renaming);
      await renameUser(administration, command, { ...renaming, name: 'Ada Lovelace' });
      await replacePassword(administration, command, { email: ada.email, passwordHash: 'x' });
      const reason =
        'Refund for ADA@example.com (Ada Lovelace), canada@example.com, ada@example.com.au';
      await creditBalance(administration, command, {
        kind: 'user',
        holder: 'eve@example.com',
        amount: 5n,
        reason,
      });
      const signedIn = { id: ada.id, role: ada.role, passwordHash: 'x' };
      const session = { user: signedIn, address: '203.0.113.7', userAgent: 'Firefox' };
      expect(await startSession(kysely, session, now())).not.toBeNull();
      const proven = { issuer: 'https://login.example.com', subject: 'lovelace-1815', role: null };
      await signInByIdentity(
        administration,
        () => person,
        { ...proven, email: ada.email, name: null },
        { create: false, role: 'member' },
        { id: 'state', until: now() + 1, linkTo: ada.id },
      );
      await beginSecondFactor(administration, person, ada);
      const usage = { time: now(), userId: ada.id, keyId: made.id, charge: charge(7n) };
      const message = 'ada@example.com is no model';
      await recordAll(database, [record('req_1', { ...usage, message })]);
      return { administration, database, kysely, id: ada.id, keyId: made.id, close };
    }

    /** Every row of every table, as text. */
    async function everything({ kysely }: Awaited<ReturnType<typeof used>>['database']) {
      const tables = await kysely.introspection.getTables();
      const rows = [];
      for (const { name } of tables) {
        rows.push(name, (await sql`select * from ${sql.table(name)}`.execute(kysely)).rows);
      }
      return JSON.stringify(rows, (_, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      );
    }

    it('leaves neither name nor address in any table, and all sums as they were', async () => {
      const { administration, database, kysely, id, keyId, close } = await used();
      const traces = /(?<!can)ada@example\.com(?!\.au)|lovelace|countess|203\.0\.113\.7/gi;
      expect((await everything(database)).match(traces)?.length).toBeGreaterThan(15);
      const books = () =>
        kysely
          .selectFrom('ledger_entries')
          .select(['account', 'amount'])
          .orderBy('transaction_id')
          .orderBy('account')
          .execute();
      const differences = async (): Promise<Difference[]> => {
        const found: Difference[] = [];
        await reconcile(database, {}, (each) => void found.push(each));
        return found;
      };
      const before = [await books(), await differences()];
      const email = `${id}@erased.invalid`;
      expect(await eraseUser(administration, command, 'Ada@example.com')).toMatchObject({
        id,
        email,
        keys: 1,
        teams: 1,
        // Both sides of the credit.
        ledgerEntries: 2,
      });
      const after = await everything(database);
      expect(after.match(traces)).toBeNull();
      // Somebody else, whose address contains this one.
      expect(after).toContain(
        `Refund for ${email} ((erased)), canada@example.com, ada@example.com.au`,
      );
      expect([await books(), await differences()]).toEqual(before);
      expect(await sumUsage(kysely, {}, ['user'])).toMatchObject([{ names: [email], cost: 7n }]);
      expect(await findUserByEmail(kysely, email)).toMatchObject({
        id,
        name: null,
        role: 'member',
        enabled: false,
        passwordHash: null,
      });
      expect(await findKey(kysely, keyId)).toMatchObject({
        name: keyId,
        revokedAt: expect.any(Number),
      });
      for (const table of ['sessions', 'identities', 'second_factors'] as const) {
        expect(await kysely.selectFrom(table).selectAll().execute()).toEqual([]);
      }
      expect(await listAudit(kysely, { action: 'user.erase', limit: 9 })).toMatchObject([
        { actor: { name: 'command line' }, object: { id, name: email }, changes: [] },
      ]);
      await close();
    });

    it('leaves the ledger and the audit log append-only', async () => {
      const { administration, kysely, close } = await used();
      await eraseUser(administration, command, 'ada@example.com');
      for (const table of ['ledger_entries', 'audit_log'] as const) {
        const edit = kysely.updateTable(table).set({ reason: 'x' }).execute();
        await expect(edit).rejects.toThrow('append-only');
      }
      await close();
    });

    it('refuses persons of the file, and those that do not exist', async () => {
      const { administration, database, close } = await used();
      await change(database, (file) => upsertUser(file, { ...user, email: 'of@file.example' }));
      const erase = (email: string) => eraseUser(administration, command, email);
      await expect(erase('of@file.example')).rejects.toThrow('remove it there first');
      await expect(erase('no@body.example')).rejects.toThrow('does not exist');
      await close();
    });
  });
});
