import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase, type OpenDatabase } from '#database/index.ts';
import { listUsers, upsertUser } from '#identity/index.ts';
import { creditAccount } from '#ledger/index.ts';
import {
  closeLives,
  createPostgresAuthority,
  holdForTask,
  releaseTaskHold,
} from '#leases/index.ts';
import { change, isSkipped, openTestDatabase } from '../database/databases.ts';
import { user } from '../database/samples.ts';
import { charge, keepPrice, record, recordAll } from '../journal/records.ts';
import { drawing, rules } from './commands.ts';

/*
 * Everything that changes meters locks them in order of name, whatever order it hears of them. Else two of them wait for
 * each other now and then, and PostgreSQL ends one.
 */

const lives = ['a', 'b', 'c'] as const;
const commandsPerLife = 40;
const batches = 30;
const perBatch = 4;
/** nano-USD; a new user of the samples has ten. */
const usd = 1_000_000_000n;

describe.skipIf(isSkipped('postgres'))('transactions on the same meters', () => {
  let opened: Awaited<ReturnType<typeof openTestDatabase>>;
  let database: OpenDatabase;
  let userId: string;
  beforeEach(async () => {
    opened = await openTestDatabase('postgres');
    // PostgreSQL says when two wait for each other; on a busy machine, all of them may wait for more than a second.
    database = openDatabase({ url: opened.url, statementTimeout: 0 });
    await keepPrice(opened.database);
    await change(opened.database, (file) => upsertUser(file, user));
    userId = (await listUsers(opened.database.kysely))[0]?.id ?? '';
  });
  afterEach(async () => {
    await database.close();
    await opened.close();
  });

  test('never wait for each other, and their sums agree', async () => {
    const meters = [`user:${userId}:balance`, `user:${userId}:quota`, 'key:key_1:quota'];
    const [balance = '', quota = '', key = ''] = meters;
    const orders = [meters, [key, balance], [quota, balance, key], [key], [key, quota, balance]];
    const authority = createPostgresAuthority({ database, node: 'node', rules });
    const [generation = 0] = await Promise.all(
      [...lives, 'closing'].map((life) => authority.begin(life)),
    );

    const lease = async (life: (typeof lives)[number]): Promise<void> => {
      for (let number = 1; number <= commandsPerLife; number += 1) {
        const chosen = orders[(number + lives.indexOf(life)) % orders.length]!;
        expect((await authority.run(drawing({ life, number, generation }, chosen, 5n))).kind).toBe(
          'done',
        );
      }
    };
    const apply = async (life: string): Promise<void> => {
      for (let at = 0; at < batches; at += 1) {
        const records = Array.from({ length: perBatch }, (_, index) =>
          record(`req_${life}_${at}_${index}`, {
            userId,
            keyId: `key_${index % 2}`,
            charge: charge(1n, { lease: { life, parts: ['1', '1', '1'] } }),
          }),
        );
        await recordAll(database, records);
      }
    };
    const credit = async (): Promise<void> => {
      for (let at = 0; at < batches; at += 1) {
        await change(database, (file) =>
          creditAccount(file, {
            account: `user:${userId}`,
            amount: 10n,
            kind: 'top-up',
            actor: 'test',
            reason: 'a test',
          }),
        );
      }
    };
    /** Each creation makes commands read again, so there are few. */
    const serveTasks = async (life: string): Promise<void> => {
      for (let at = 0; at < 10; at += 1) {
        const of = at % 2 === 0 ? meters : meters.toReversed();
        const lease = { life, parts: of.map(() => '1') };
        await database.kysely
          .transaction()
          .execute((trx) => holdForTask(trx, { meters: of, amount: 1n, lease }));
        await database.kysely
          .transaction()
          .execute((trx) => releaseTaskHold(trx, { meters: of.toReversed(), amount: 1n }));
      }
    };
    await authority.run(drawing({ life: 'closing', number: 1, generation }, meters, 5n));
    await Promise.all([
      ...lives.map(lease),
      ...lives.map(apply),
      ...lives.map(serveTasks),
      credit(),
      closeLives(database, ['closing']),
    ]);

    const totals = await database.kysely.selectFrom('spent_totals').selectAll().execute();
    const leases = await database.kysely.selectFrom('leases').selectAll().execute();
    const all = BigInt(lives.length * batches * perBatch);
    expect(totals.find(({ meter }) => meter === meters[0])).toMatchObject({
      spent: all,
      credited: 10n * usd + BigInt(batches * 10),
    });
    for (const { meter, leased } of totals) {
      const left = leases
        .filter((row) => row.meter === meter)
        .reduce((sum, { drawn, settled }) => sum + drawn - settled, 0n);
      expect(leased, meter).toBe(left);
    }
  });
});
