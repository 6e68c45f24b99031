import { createMemoryMoney, type Meter, type Money } from '#limits/index.ts';
import { leaseRules } from '#limits/index.ts';
import { LeasedMoney } from '#limits/leases/leased-money.ts';
import { createPostgresAuthority, settleLeases } from '#leases/index.ts';
import { createTransactionId, postTransaction } from '#ledger/index.ts';
import { openTestDatabase, type Dialect } from '../database/databases.ts';
import { TestClock } from './test-clock.ts';

const ageMs = 600_000;

/** One process that spends, and the authority that it leases from. */
export interface MoneyBench {
  readonly money: Money;
  readonly clock: TestClock;
  /** The meter is the balance of an account of its own. */
  limitTo(meter: Meter): Promise<void>;
  /** Ends a hold with its charge, and brings the charge into the database. */
  charge(id: string, meters: readonly Meter[], cost: bigint): Promise<void>;
  close(): Promise<void>;
}

export async function openMoneyBench(dialect: Dialect): Promise<MoneyBench> {
  return dialect === 'sqlite' ? inMemory() : onPostgres();
}

function inMemory(): MoneyBench {
  const clock = new TestClock();
  const money = createMemoryMoney({
    now: () => clock.wall,
    monotonic: () => clock.monotonic,
    spentSource: async () => new Map(),
  });
  return {
    money,
    clock,
    limitTo: async () => {},
    async charge(id, meters, cost) {
      const names = meters.map(({ name }) => name);
      money.announceCharge([id], names, cost);
      money.commitHold(id, cost);
    },
    close: () => money.close(),
  };
}

async function onPostgres(): Promise<MoneyBench> {
  const clock = new TestClock();
  const { database, close } = await openTestDatabase('postgres');
  const { kysely } = database;
  let lives = 0;
  const money = new LeasedMoney({
    authority: createPostgresAuthority({
      database,
      node: 'node',
      rules: { ...leaseRules, ageMs, share: 500n },
    }),
    ageMs,
    reserveMs: 60_000,
    unleasedMost: 0n,
    liveNodes: () => 1,
    replay: async () => {},
    onEnded() {},
    appliedUntil: () => clock.monotonic,
    peers: null,
    newLife: () => `life_${(lives += 1)}`,
    now: () => clock.wall,
    monotonic: () => clock.monotonic,
    log: { info() {}, warn() {}, error() {} },
  });
  const limits = new Map<string, bigint>();
  let credited = Promise.resolve();
  const credit = (name: string, amount: bigint): Promise<void> => {
    const account = name.slice(0, -':balance'.length) as `user:${string}`;
    const transaction = {
      id: createTransactionId(Date.now()),
      kind: 'top-up' as const,
      actor: 'test',
      reason: 'test',
      time: 1,
      amounts: new Map([
        [account, amount],
        ['funding' as const, -amount],
      ]),
    };
    return kysely.transaction().execute((trx) => postTransaction(trx, transaction));
  };
  return {
    money,
    clock,
    async limitTo({ name, limit }) {
      const more = limit - (limits.get(name) ?? 0n);
      limits.set(name, limit);
      if (more !== 0n) credited = credit(name, more);
      await credited;
    },
    async charge(id, meters, cost) {
      const names = meters.map(({ name }) => name);
      const lease = money.announceCharge([id], names, cost);
      const parts = names.map((meter, at) => ({ meter, part: BigInt(lease?.parts[at] ?? '0') }));
      await kysely.transaction().execute(async (trx) => {
        for (const meter of names) {
          await trx
            .updateTable('spent_totals')
            .set((eb) => ({ spent: eb('spent', '+', cost), version: eb('version', '+', 1) }))
            .where('meter', '=', meter)
            .execute();
        }
        const leased = parts.filter(({ part }) => part > 0n);
        await settleLeases(
          trx,
          leased.map((one) => ({ ...one, life: lease!.life })),
        );
      });
      money.commitHold(id, cost);
    },
    async close() {
      await money.close();
      await close();
    },
  };
}
