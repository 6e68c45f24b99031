import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  createPostgresAuthority,
  settleLeases,
  type Authority,
  type Command,
} from '#leases/index.ts';
import { isSkipped, openTestDatabase } from '../database/databases.ts';
import { commandOf, drawing, rules } from './commands.ts';

const meter = 'key:one:quota';
describe.skipIf(isSkipped('postgres'))('a command', () => {
  let opened: Awaited<ReturnType<typeof openTestDatabase>>;
  let authority: Authority;
  let generation: number;
  let statements: number;
  /** Happens once, after the first statement of a command. */
  let meanwhile: (() => Promise<void>) | null;

  beforeEach(async () => {
    opened = await openTestDatabase('postgres');
    const kysely = opened.database.kysely.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        statements += 1;
        const happens = meanwhile;
        meanwhile = null;
        await happens?.();
        return result;
      },
    });
    authority = createPostgresAuthority({
      database: { ...opened.database, kysely },
      node: 'node',
      rules,
    });
    statements = 0;
    meanwhile = null;
    generation = await authority.begin('life');
    await authority.begin('other');
    statements = 0;
  });
  afterEach(() => opened.close());

  const wanting = (life: string, number: number, amount: bigint): Command =>
    drawing({ life, number, generation }, [meter], amount);

  /** As the applier does: a row adds to what is spent, and takes it out of the lease. */
  const record = (cost: bigint): Promise<void> =>
    opened.database.kysely.transaction().execute(async (trx) => {
      await trx
        .updateTable('spent_totals')
        .set((row) => ({ spent: row('spent', '+', cost) }))
        .where('meter', '=', meter)
        .execute();
      await settleLeases(trx, [{ meter, life: 'life', part: cost }]);
    });

  async function rows() {
    const { kysely } = opened.database;
    const { spent, leased } = await kysely
      .selectFrom('spent_totals')
      .selectAll()
      .where('meter', '=', meter)
      .executeTakeFirstOrThrow();
    const leases = await kysely.selectFrom('leases').selectAll().orderBy('life').execute();
    return { spent, leased, leases: leases.map((row) => [row.life, row.drawn, row.settled]) };
  }

  test('reads and writes, and nothing else, also for a meter without a row', async () => {
    await authority.run(wanting('life', 1, 100n));
    expect(statements).toBe(2);
    expect(await rows()).toEqual({ spent: 0n, leased: 100n, leases: [['life', 100n, 0n]] });
  });

  test('is written beside records that arrive in between', async () => {
    await authority.run(wanting('life', 1, 100n));
    statements = 0;
    meanwhile = () => record(30n);
    await authority.run(wanting('life', 2, 50n));
    expect(statements).toBe(2);
    expect(await rows()).toEqual({ spent: 30n, leased: 120n, leases: [['life', 150n, 30n]] });
  });

  test('starts again if another command comes in between', async () => {
    await authority.run(wanting('life', 1, 100n));
    meanwhile = async () => void (await authority.run(wanting('other', 1, 40n)));
    statements = 0;
    await authority.run(wanting('life', 2, 50n));
    expect(statements).toBe(6);
    expect(await rows()).toEqual({
      spent: 0n,
      leased: 190n,
      leases: [
        ['life', 150n, 0n],
        ['other', 40n, 0n],
      ],
    });
  });

  test('forgets a lease with all that was settled of it', async () => {
    await authority.run(wanting('life', 1, 100n));
    meanwhile = () => record(30n);
    statements = 0;
    await authority.run(
      commandOf({ life: 'life', number: 2, generation }, [meter], { isDropped: true }),
    );
    expect(statements).toBe(4);
    expect(await rows()).toEqual({ spent: 30n, leased: 0n, leases: [] });
  });
});
