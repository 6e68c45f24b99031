import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OpenDatabase } from '#database/index.ts';
import { closeLives, createPostgresAuthority, freeSilentLives } from '#leases/index.ts';
import { createLeasedMoney, leaseRules, type LeasedMoney } from '#limits/leases/leased-money.ts';
import type { HoldDecision } from '#limits/index.ts';
import { isSkipped, openTestDatabase } from '../database/databases.ts';
import { charge, record, recordAll } from '../journal/records.ts';

const cent = 10_000_000n;
const usd = 1_000_000_000n;
const balance = 'user:usr_1:balance';
const meterNames = [balance, 'user:usr_1:quota', 'key:key_1:quota'];

interface Node {
  readonly money: LeasedMoney;
  readonly lives: string[];
  readonly clock: { skipped: number };
}

describe.skipIf(isSkipped('postgres'))('money leased from PostgreSQL', () => {
  let opened: Awaited<ReturnType<typeof openTestDatabase>>;
  let database: OpenDatabase;
  let nodes: Node[];
  let count = 0;
  beforeEach(async () => {
    opened = await openTestDatabase('postgres');
    ({ database } = opened);
    nodes = [];
  });
  afterEach(async () => {
    await Promise.all(nodes.map(({ money }) => money.close()));
    await opened.close();
  });

  const credit = (amount: bigint) =>
    database.kysely
      .insertInto('ledger_entries')
      .values([
        { ...entry(`tx_${(count += 1)}`), account: 'user:usr_1', amount },
        { ...entry(`tx_${count}`), account: 'funding', amount: -amount },
      ])
      .execute();

  const start = (): Node => {
    const lives: string[] = [];
    const clock = { skipped: 0 };
    const money = createLeasedMoney({
      authority: createPostgresAuthority({
        database,
        node: `node_${nodes.length}`,
        url: opened.url,
        rules: leaseRules,
      }),
      newLife() {
        const life = `life_${nodes.length}_${(count += 1)}`;
        lives.push(life);
        return life;
      },
      now: Date.now,
      monotonic: () => performance.now() + clock.skipped,
      log: { info() {}, warn() {}, error() {} },
    });
    const node = { money, lives, clock };
    nodes.push(node);
    return node;
  };

  const hold = async (
    { money }: Node,
    amount: bigint,
    { limit = 10n * usd, expiresAt = Infinity } = {},
  ): Promise<HoldDecision & { readonly id: string }> => {
    const id = `req_${(count += 1)}`;
    const meters = [{ name: balance, limit, floor: cent }];
    return { ...(await money.hold({ id, amount, meters, expiresAt })), id };
  };

  /** Ends a request, and brings its record into the database. */
  const finish = async ({ money }: Node, id: string, cost: bigint) => {
    const lease = money.charge(id, meterNames, cost);
    const row = charge(cost, lease === null ? {} : { lease });
    await recordAll(database, [record(id, { charge: row })]);
    money.commitHold(id, meterNames, cost);
  };

  const rows = async () => {
    const meter = await database.kysely
      .selectFrom('spent_totals')
      .selectAll()
      .where('meter', '=', balance)
      .executeTakeFirstOrThrow();
    const leases = await database.kysely.selectFrom('leases').selectAll().execute();
    const left = leases.reduce((sum, { drawn, settled }) => sum + drawn - settled, 0n);
    return { ...meter, left };
  };

  test('a balance is spent to the last cent by requests of three nodes, and never beyond', async () => {
    await credit(1n * usd);
    const three = [start(), start(), start()];
    let spent = 0n;
    const serve = async (node: Node): Promise<number> => {
      let admitted = 0;
      for (let at = 0; at < 12; at += 1) {
        const decision = await hold(node, usd / 10n).catch(() => null);
        if (decision?.held !== true) continue;
        admitted += 1;
        spent += usd / 20n;
        await finish(node, decision.id, usd / 20n);
      }
      return admitted;
    };
    await Promise.all(three.map(serve));
    const after = await rows();
    expect(after.spent).toBe(spent);
    expect(after.spent + after.leased).toBeLessThanOrEqual(usd);
    expect(after.leased).toBe(after.left);
    // What is left goes to whoever asks alone.
    for (let tries = 0; spent < usd && tries < 40; tries += 1) {
      const decision = await hold(three[0]!, usd / 20n).catch(() => null);
      if (decision?.held !== true) continue;
      spent += usd / 20n;
      await finish(three[0]!, decision.id, usd / 20n);
    }
    expect((await rows()).spent).toBe(usd);
    expect(await hold(three[1]!, 1n)).toMatchObject({ held: false, denied: balance });
  });

  test('of parallel requests with room for one, exactly one is admitted', async () => {
    await credit(1n * usd);
    const three = [start(), start(), start()];
    const decisions = await Promise.all(
      Array.from({ length: 30 }, async (_, at) => hold(three[at % 3]!, usd).catch(() => null)),
    );
    expect(decisions.filter((decision) => decision?.held === true)).toHaveLength(1);
  });

  test('what is idle on another node is called back', async () => {
    await credit(1n * usd);
    const [one, other] = [start(), start()];
    const first = await hold(one, usd / 10n);
    one.money.commitHold(first.id, meterNames, 0n);
    expect((await rows()).leased).toBeGreaterThan(0n);
    const asked = performance.now();
    expect(await hold(other, usd)).toMatchObject({ held: true, amount: usd });
    expect(performance.now() - asked).toBeLessThan(2_000);
  });

  test('a short hold is the only one on all nodes, and its charge is recorded in full', async () => {
    await credit(1n * usd);
    const [one, other] = [start(), start()];
    const short = await hold(one, 3n * usd);
    expect(short).toMatchObject({ held: true, amount: usd });
    expect(await hold(other, 3n * usd)).toMatchObject({ held: false, denied: balance });
    await finish(one, short.id, 2n * usd);
    const after = await rows();
    expect(after).toMatchObject({ spent: 2n * usd, leased: 0n, left: 0n });
  });

  test('a hold expires: its money backs another, and its charge still counts', async () => {
    await credit(1n * usd);
    const one = start();
    const first = await hold(one, usd, { expiresAt: Date.now() + 5_000 });
    expect(await hold(one, usd)).toMatchObject({ held: false });
    one.clock.skipped = 7_000;
    expect(await hold(one, usd)).toMatchObject({ held: true, amount: usd });
    await finish(one, first.id, usd / 2n);
    expect(await rows()).toMatchObject({ spent: usd / 2n, leased: usd, left: usd });
  });

  test('what was leased for another limit is asked for again', async () => {
    await credit(1n * usd);
    const one = start();
    const first = await hold(one, usd / 4n);
    one.money.commitHold(first.id, meterNames, 0n);
    await credit(-usd);
    expect(await hold(one, usd / 4n, { limit: 0n })).toMatchObject({ held: false });
    expect((await rows()).leased).toBe(0n);
  });

  test('what is idle in its own lease counts for the floor, whichever limit is asked for', async () => {
    await credit(5n * cent);
    const [one, other] = [start(), start()];
    const first = await hold(one, 3n * cent);
    one.money.commitHold(first.id, meterNames, 0n);
    // Less than the floor is left beside the leases.
    expect(await hold(other, (12n * cent) / 10n)).toMatchObject({ held: true });
    const meters = [
      { name: balance, limit: 10n * usd, floor: cent },
      { name: 'key:key_1:quota', limit: usd, floor: 1n },
    ];
    const request = { id: 'req_two', amount: cent / 10n, meters, expiresAt: Infinity };
    expect(await one.money.hold(request)).toMatchObject({ held: true });
  });

  test('a dead node keeps what it leased until its life is closed or too old', async () => {
    await credit(1n * usd);
    const [dead, other] = [start(), start()];
    await hold(dead, usd);
    await expect(hold(other, usd)).resolves.toMatchObject({ held: false });
    await closeLives(database, dead.lives);
    await wait(150);
    expect(await hold(other, usd)).toMatchObject({ held: true });
    expect(await freeSilentLives(database, 0)).not.toEqual([]);
    expect((await rows()).leased).toBe(0n);
    // It begins a new life with nothing leased.
    await expect(hold(dead, usd)).resolves.toMatchObject({ held: true });
    expect(dead.lives).toHaveLength(2);
  });

  test('a node that has not been heard for nine tenths of the age asks before it admits', async () => {
    await credit(1n * usd);
    const [sleeper] = [start()];
    const first = await hold(sleeper, usd / 10n);
    sleeper.money.commitHold(first.id, meterNames, 0n);
    await freeSilentLives(database, 0);
    sleeper.clock.skipped = leaseRules.stopMs;
    expect(await hold(sleeper, usd / 10n)).toMatchObject({ held: true });
    expect(sleeper.lives).toHaveLength(2);
  });
});

function entry(id: string) {
  return { transaction_id: id, kind: 'top-up' as const, actor: 'ada', reason: 'test', time: 1 };
}
