import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase, type OpenDatabase } from '#database/index.ts';
import { createPostgresAuthority } from '#leases/index.ts';
import { leaseRules } from '#limits/index.ts';
import { LeasedMoney } from '#limits/leases/leased-money.ts';
import { isSkipped, openTestDatabase } from '../database/databases.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const usd = 1_000_000_000n;
const hot = 'user:usr_hot:balance';
const payers = 12;
const payerAt = (at: number): string => `user:usr_${at % payers}:balance`;

/* Many requests of one payer, who has little, on nodes of which one is far from the database. */
describe.skipIf(isSkipped('postgres'))('a payer whom many requests want to charge', () => {
  let opened: Awaited<ReturnType<typeof openTestDatabase>>;
  const closing: (() => Promise<void>)[] = [];
  const errors: string[] = [];
  let count = 0;

  beforeEach(async () => {
    opened = await openTestDatabase('postgres');
    errors.length = 0;
    await credit(hot, (usd * 6n) / 10n);
    for (let at = 0; at < payers; at += 1) await credit(payerAt(at), 100n * usd);
  });
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
    await opened.close();
  });

  const credit = (meter: string, amount: bigint) => {
    const account = meter.slice(0, -':balance'.length);
    const id = `tx_${(count += 1)}`;
    const entry = { transaction_id: id, kind: 'top-up', actor: 'ada', reason: 'test', time: 1 };
    return opened.database.kysely
      .insertInto('ledger_entries')
      .values([
        { ...entry, account, amount },
        { ...entry, account: 'funding', amount: -amount },
      ])
      .execute();
  };

  const databaseBy = (url: string): OpenDatabase => {
    const database = openDatabase({ url });
    closing.push(() => database.close());
    return database;
  };

  const start = (name: string, url: string): LeasedMoney => {
    const database = databaseBy(url);
    const rules = { ...leaseRules, ageMs: 600_000, share: 500n };
    const money = new LeasedMoney({
      authority: createPostgresAuthority({ database, node: name, rules }),
      ageMs: 600_000,
      reserveMs: 60_000,
      unleasedMost: 0n,
      liveNodes: () => 1,
      newLife: () => `life_${name}_${(count += 1)}`,
      replay: async () => {},
      onEnded() {},
      now: Date.now,
      monotonic: () => performance.now(),
      appliedUntil: () => -Infinity,
      peers: null,
      log: { info() {}, warn() {}, error: (message) => void errors.push(message) },
    });
    closing.push(() => money.close());
    return money;
  };

  const farUrl = async (): Promise<string> => {
    const url = new URL(opened.url);
    const proxy = await startTcpProxy(url.hostname, Number(url.port || 5432));
    proxy.delay(20);
    url.port = String(proxy.port);
    url.hostname = '127.0.0.1';
    return url.href;
  };

  /** Holds, keeps for a moment, and is charged nothing. */
  const ask = async (money: LeasedMoney, meter: string, amount: bigint): Promise<string> => {
    const id = `req_${(count += 1)}`;
    const meters = [{ name: meter, limit: 1_000n * usd, floor: usd / 100n }];
    try {
      const { isHeld } = await money.hold({ id, amount, meters, expiresAt: Infinity });
      if (!isHeld) return 'refused';
      await wait(10);
      money.commitHold(id, 0n);
      return 'held';
    } catch {
      return 'failed';
    }
  };

  const waitingFor = { timeout: 60_000 };

  test('keeps nobody else waiting, also on a node far from the database', waitingFor, async () => {
    const far = start('far', await farUrl());
    const near = [start('one', opened.url), start('two', opened.url)];
    const over = new AbortController();
    const crowd = [...near, far].map(async (money) => {
      while (!over.signal.aborted) {
        await Promise.all(Array.from({ length: 7 }, () => ask(money, hot, (usd * 9n) / 100n)));
      }
    });
    const others: string[] = [];
    for (let round = 0; round < 28; round += 1) {
      const four = [0, 1, 2, 3].map((at) => ask(far, payerAt(round * 4 + at), 30n * usd));
      others.push(...(await Promise.all(four)));
    }
    over.abort();
    await Promise.all(crowd);
    expect(others.filter((one) => one !== 'held')).toEqual([]);
    expect(errors).toEqual([]);
  });

  test.for(['serializable', 'repeatable read'])(
    'is served where transactions are %s if nobody says otherwise',
    waitingFor,
    async (level) => {
      const name = sql.id(new URL(opened.url).pathname.slice(1));
      await sql`alter database ${name} set default_transaction_isolation = ${sql.lit(level)}`.execute(
        opened.database.kysely,
      );
      const nodes = ['one', 'two', 'three'].map((node) => start(node, opened.url));
      const answers = await Promise.all(
        nodes.flatMap((money) =>
          Array.from({ length: 40 }, async (_, at) => {
            await wait(at * 10);
            return ask(money, payerAt(0), usd);
          }),
        ),
      );
      expect(answers.filter((one) => one !== 'held')).toEqual([]);
      expect(errors).toEqual([]);
    },
  );

  test('whose row somebody has locked keeps nobody else waiting', waitingFor, async () => {
    const money = start('one', opened.url);
    await ask(money, hot, usd / 100n);
    const locked = Promise.withResolvers<void>();
    const isOver = Promise.withResolvers<void>();
    const lock = opened.database.kysely.transaction().execute(async (trx) => {
      await trx
        .selectFrom('spent_totals')
        .select('meter')
        .where('meter', '=', hot)
        .forUpdate()
        .execute();
      locked.resolve();
      await isOver.promise;
    });
    await locked.promise;
    const [own, ...others] = await Promise.all([
      ask(money, hot, usd / 2n),
      ...Array.from({ length: payers }, (_, at) => ask(money, payerAt(at), 30n * usd)),
    ]);
    expect([own, new Set(others)]).toEqual(['failed', new Set(['held'])]);
    expect(money.isAway).toBe(false);
    isOver.resolve();
    await lock;
    await expect.poll(() => ask(money, hot, usd / 2n), { timeout: 15_000 }).toBe('held');
  });
});
