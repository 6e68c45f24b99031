import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { OpenDatabase } from '#database/index.ts';
import { closeLives, createPostgresAuthority, freeSilentLives } from '#leases/index.ts';
import { leaseRules } from '#limits/index.ts';
import { LeasedMoney } from '#limits/leases/leased-money.ts';
import type { HoldDecision, Peers, Reserve } from '#limits/index.ts';
import { isSkipped, openTestDatabase } from '../database/databases.ts';
import { charge, record, recordAll } from '../journal/records.ts';

const cent = 10_000_000n;
const patience = { timeout: 15_000 };
const usd = 1_000_000_000n;
const ageMs = 600_000;
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
  const ended: string[] = [];
  const errors: string[] = [];
  const infos: string[] = [];
  /** Keeps what a look has found until later. */
  let slow: <Found>(found: Found) => Found | Promise<Found>;
  const applied = { until: -Infinity };
  /** The database takes no commands. */
  const outage = { is: false };
  let count = 0;
  beforeEach(async () => {
    opened = await openTestDatabase('postgres');
    ({ database } = opened);
    nodes = [];
    applied.until = -Infinity;
    outage.is = false;
    ended.length = 0;
    errors.length = 0;
    infos.length = 0;
    slow = (found) => found;
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

  const changed = () => sql`select pg_notify('sluice_changes', '')`.execute(database.kysely);

  /** Lets one life become too old. A look of its node may come in between. */
  const free = ({ lives }: Node) =>
    vi.waitFor(async () => {
      const life = lives[0]!;
      await sql`update lives set seen_at = seen_at - age - 1 where id = ${life}`.execute(
        database.kysely,
      );
      const freed = await freeSilentLives(database);
      expect(freed.map((one) => one.life)).toEqual([life]);
      return freed;
    });

  /** @param replayed when the records that the database lost are there again */
  const start = (
    replayed = Promise.resolve(),
    unleasedMost = 0n,
    peers: Peers | null = null,
  ): Node => {
    const lives: string[] = [];
    const clock = { skipped: 0 };
    const authority = createPostgresAuthority({
      database,
      node: `node_${nodes.length}`,
      rules: { ...leaseRules, ageMs, share: 500n },
    });
    const money = new LeasedMoney({
      authority: {
        ...authority,
        run: (command) => (outage.is ? Promise.reject(new Error('away')) : authority.run(command)),
        look: (...of) => authority.look(...of).then(slow),
      },
      ageMs,
      reserveMs: 60_000,
      unleasedMost,
      liveNodes: () => nodes.length,
      newLife() {
        const life = `life_${nodes.length}_${(count += 1)}`;
        lives.push(life);
        return life;
      },
      replay: () => replayed,
      onEnded: (life) => void ended.push(life),
      now: Date.now,
      monotonic: () => performance.now() + clock.skipped,
      appliedUntil: () => applied.until,
      peers,
      log: {
        info: (message) => void infos.push(message),
        warn() {},
        error: (message) => void errors.push(message),
      },
    });
    const node = { money, lives, clock };
    nodes.push(node);
    return node;
  };

  /**
   * Asks again as a client does, until it is decided: on a machine that is busy, another node may give back what is
   * idle later than the patience of a request.
   */
  const hold = async (
    { money }: Node,
    amount: bigint,
    { limit = 10n * usd, expiresAt = Infinity, id = `req_${(count += 1)}` } = {},
  ): Promise<HoldDecision & { readonly id: string }> => {
    const meters = [{ name: balance, limit, floor: cent }];
    for (;;) {
      try {
        return { ...(await money.hold({ id, amount, meters, expiresAt })), id };
      } catch (error) {
        const hasFailed = (error as Error).cause !== undefined || money.hasFailed;
        if (hasFailed || !(error as Error).message.includes('unavailable')) throw error;
        await wait(leaseRules.askAgainMs);
      }
    }
  };

  /** What the leases do not back is refused once the database has failed for longer than a restart takes. */
  const expectRefusal = async ({ money, clock }: Node, ask: () => Promise<unknown>) => {
    const refusal = vi.waitFor(() => expect(ask()).rejects.toThrow('unavailable'), patience);
    await vi.waitFor(() => expect(money.hasFailed).toBe(true), patience);
    clock.skipped += leaseRules.restartMs;
    await refusal;
  };

  /** Ends a request, and brings its record into the database. */
  const finish = async ({ money }: Node, id: string, cost: bigint) => {
    const lease = money.announceCharge([id], meterNames, cost);
    const row = charge(cost, lease === null ? {} : { lease });
    await recordAll(database, [record(id, { charge: row })]);
    money.commitHold(id, cost);
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
        if (decision?.isHeld !== true) continue;
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
      if (decision?.isHeld !== true) continue;
      spent += usd / 20n;
      await finish(three[0]!, decision.id, usd / 20n);
    }
    expect((await rows()).spent).toBe(usd);
    expect(await hold(three[1]!, 1n)).toMatchObject({ isHeld: false, denied: balance });
  });

  test('of parallel requests with room for one, exactly one is admitted', async () => {
    await credit(1n * usd);
    const three = [start(), start(), start()];
    const decisions = await Promise.all(
      Array.from({ length: 30 }, async (_, at) => hold(three[at % 3]!, usd).catch(() => null)),
    );
    expect(decisions.filter((decision) => decision?.isHeld === true)).toHaveLength(1);
  });

  // The reserve of the second payer is below the floor of a balance.
  test.each([
    ['large', usd / 20n],
    ['small', usd / 10_000n],
  ])(
    'a payer of %s requests is served for the time of the reserve while the database is unreachable',
    async (_, cost) => {
      await credit(1_000n * usd);
      const node = start();
      const serve = async () => {
        node.clock.skipped += 1_000;
        const { id } = await hold(node, cost, { limit: 1_000n * usd });
        // What a request costs is mostly less than what it holds; here it is as much.
        node.money.announceCharge([id], meterNames, cost);
        node.money.commitHold(id, cost);
      };
      for (let at = 0; at < 30; at += 1) await serve();
      await rows();
      outage.is = true;
      for (let at = 0; at < 60; at += 1) await serve();
      const beyond = async () => {
        for (let at = 0; at < 1_000; at += 1) await serve();
      };
      await expectRefusal(node, beyond);
      expect(node.money.isAway).toBe(true);
    },
  );

  test('the other workers have a reserve for a payer whom one of them serves', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const listeners: ((reserves: readonly Reserve[]) => void)[] = [];
    const startWorker = () => {
      const at = listeners.length;
      const send = (reserves: readonly Reserve[]) =>
        listeners.forEach((hear, index) => void (index === at || hear(structuredClone(reserves))));
      return start(Promise.resolve(), 0n, { send, listen: (hear) => void listeners.push(hear) });
    };
    const leased = async () =>
      (await database.kysely.selectFrom('leases').selectAll().execute())
        .map(({ drawn, settled }) => drawn - settled)
        .toSorted((a, b) => Number(a - b));
    await credit(20n * usd);
    const [one, other] = [startWorker(), startWorker()];
    const limit = 20n * usd;
    const { id } = await hold(one, usd / 10n, { limit });
    one.money.commitHold(id, 0n);
    vi.advanceTimersByTime(5_000);
    const wanted = 6n * (usd / 10n) + cent;
    const both = [wanted, wanted + usd / 10n];
    await vi.waitFor(async () => expect(await leased()).toEqual(both), patience);
    outage.is = true;
    for (let at = 0; at < 6; at += 1)
      expect(await hold(other, usd / 10n, { limit })).toMatchObject({ isHeld: true });
    await expectRefusal(other, () => hold(other, usd / 10n, { limit }));
    outage.is = false;
  });

  test('a reserve for the payers of other workers goes back when none of them serves these', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    await credit(20n * usd);
    let hear: (reserves: readonly Reserve[]) => void = () => {};
    const peers: Peers = { send() {}, listen: (listener) => void (hear = listener) };
    const node = start(Promise.resolve(), 0n, peers);
    const reserve = { name: balance, limit: 20n * usd, floor: cent, amount: usd };
    const leased = async () => (await rows()).leased;
    hear([reserve]);
    await vi.waitFor(async () => expect(await leased()).toBe(usd + cent), patience);
    node.clock.skipped += 181_000;
    vi.advanceTimersByTime(leaseRules.lookEveryMs);
    await vi.waitFor(async () => expect(await leased()).toBe(0n), patience);
  });

  test('nobody is refused while the database may only restart', async () => {
    await credit(2n * usd);
    const node = start();
    await hold(node, cent);
    outage.is = true;
    const first = hold(node, usd / 2n);
    await vi.waitFor(() => expect(node.money.hasFailed).toBe(true));
    const second = hold(node, usd / 2n);
    outage.is = false;
    expect(await Promise.all([first, second])).toMatchObject([{ isHeld: true }, { isHeld: true }]);
    expect(node.money.hasFailed).toBe(false);
  });

  test('a reserve is at most the share of what is left, and others get it when they need it', async () => {
    await credit(1n * usd);
    const [one, other] = [start(), start()];
    for (let at = 0; at < 10; at += 1) {
      const { id } = await hold(one, usd / 20n);
      one.money.commitHold(id, 0n);
    }
    // Half of what was left, for each of two nodes, again and again.
    expect((await rows()).leased).toBeGreaterThan(usd / 5n);
    expect(await hold(other, usd)).toMatchObject({ isHeld: true, amount: usd });
  });

  test('without a lease and a database, a payer is served up to an amount, and charged later', async () => {
    await credit(1n * usd);
    const [node] = [start(Promise.resolve(), 1n * usd), start()];
    outage.is = true;
    const first = await hold(node, usd / 4n);
    expect(await hold(node, usd / 4n)).toMatchObject({ isHeld: true });
    // Two nodes share the amount.
    await expectRefusal(node, () => hold(node, usd / 4n));
    expect(node.money.unleasedAmount).toBe(usd / 2n);
    expect(node.money.hasLeases).toBe(true);
    outage.is = false;
    await finish(node, first.id, usd / 8n);
    const row = await database.kysely.selectFrom('usage').select('late').executeTakeFirst();
    expect(row).toEqual({ late: usd / 8n });
    expect(await rows()).toMatchObject({ spent: usd / 8n, leased: 0n, left: 0n });
    expect(node.money.unleasedAmount).toBe(usd / 4n + usd / 8n);
  });

  test('a team may have its own amount, or be refused', async () => {
    const meters = [{ name: 'team:team_1:balance', limit: usd, floor: cent }];
    const request = { id: 'req_1', amount: cent, meters, expiresAt: Infinity };
    const careful = start();
    const generous = start(Promise.resolve(), 1n * usd);
    outage.is = true;
    await expect(careful.money.hold(request)).rejects.toThrow('unavailable');
    expect(careful.money.hasLeases).toBe(false);
    expect(await careful.money.hold({ ...request, unleasedMost: 2n * cent })).toMatchObject({
      isHeld: true,
    });
    expect(careful.money.hasLeases).toBe(true);
    // Two nodes share it.
    await expect(
      careful.money.hold({ ...request, id: 'req_2', unleasedMost: 2n * cent }),
    ).rejects.toThrow('unavailable');
    await expect(generous.money.hold({ ...request, unleasedMost: 0n })).rejects.toThrow(
      'unavailable',
    );
    expect(await generous.money.hold({ ...request, unleasedMost: null })).toMatchObject({
      isHeld: true,
    });
  });

  test('without a database, nobody is served whom it has refused before, and no task', async () => {
    const node = start(Promise.resolve(), 1n * usd);
    expect(await hold(node, usd / 4n)).toMatchObject({ isHeld: false });
    outage.is = true;
    node.clock.skipped = 60_000;
    await expectRefusal(node, () => hold(node, usd / 4n));
    const meters = [{ name: 'user:usr_2:balance', limit: usd, floor: cent }];
    const task = { id: 'req_task', amount: cent, meters, expiresAt: Infinity, isExact: true };
    await expect(node.money.hold(task)).rejects.toThrow('unavailable');
    expect(await node.money.hold({ ...task, isExact: false })).toMatchObject({ isHeld: true });
  });

  test('what is idle on another node is called back', async () => {
    await credit(1n * usd);
    const [one, other] = [start(), start()];
    const first = await hold(one, usd / 10n);
    one.money.commitHold(first.id, 0n);
    expect((await rows()).leased).toBeGreaterThan(0n);
    expect(await hold(other, usd)).toMatchObject({ isHeld: true, amount: usd });
  });

  test('a short hold is the only one on all nodes, and its charge is recorded in full', async () => {
    await credit(1n * usd);
    const [one, other] = [start(), start()];
    const short = await hold(one, 3n * usd);
    expect(short).toMatchObject({ isHeld: true, amount: usd });
    expect(await hold(other, 3n * usd)).toMatchObject({ isHeld: false, denied: balance });
    await finish(one, short.id, 2n * usd);
    // What it cost beyond itself is drawn by the next command.
    const after = { spent: 2n * usd, leased: 0n, left: 0n };
    await vi.waitFor(async () => expect(await rows()).toMatchObject(after), 15_000);
  });

  test('what a short hold has cost beyond itself is gone before its record has arrived', async () => {
    await credit(1n * usd);
    const [one, other] = [start(), start()];
    // Backs a request until the short hold has ended.
    const backing = await hold(other, usd / 2n);
    const short = await hold(one, 3n * usd);
    expect(short).toMatchObject({ isHeld: true, amount: usd / 2n });
    one.money.announceCharge([short.id], meterNames, usd);
    one.money.commitHold(short.id, usd);
    other.money.commitHold(backing.id, 0n);
    const next = await hold(other, 3n * usd).catch(() => null);
    expect(next).toMatchObject({ isHeld: false, denied: balance });
  });

  test('what a short hold keeps from one request is refused to smaller ones without asking', async () => {
    await credit(1n * usd);
    const [one, other] = [start(), start()];
    expect(await hold(other, usd / 10n)).toMatchObject({ isHeld: true });
    expect(await hold(one, 3n * usd)).toMatchObject({ isHeld: true, amount: (usd * 9n) / 10n });
    expect(await hold(other, 3n * usd)).toMatchObject({ isHeld: false, denied: balance });
    const { version } = await rows();
    expect(await hold(other, usd)).toMatchObject({ isHeld: false, denied: balance });
    expect((await rows()).version).toBe(version);
  });

  test('a short hold that has just ended on another node refuses nobody', async () => {
    await credit(1n * usd);
    const [one, other] = [start(), start()];
    for (let at = 0; at < 20; at += 1) {
      const short = await hold(one, 3n * usd);
      expect(short).toMatchObject({ isHeld: true, amount: usd });
      one.money.commitHold(short.id, 0n);
      const next = await hold(other, 3n * usd);
      expect(next).toMatchObject({ isHeld: true, amount: usd });
      other.money.commitHold(next.id, 0n);
    }
  });

  test('a hold expires: its money backs another, and its charge still counts', async () => {
    await credit(1n * usd);
    const one = start();
    const first = await hold(one, usd, { expiresAt: Date.now() + 5_000 });
    expect(await hold(one, usd)).toMatchObject({ isHeld: false });
    one.clock.skipped = 7_000;
    expect(await hold(one, usd)).toMatchObject({ isHeld: true, amount: usd });
    await finish(one, first.id, usd / 2n);
    const after = { spent: usd / 2n, leased: usd, left: usd };
    await vi.waitFor(async () => expect(await rows()).toMatchObject(after), 15_000);
  });

  test('what was leased for another limit is asked for again', async () => {
    await credit(1n * usd);
    const one = start();
    const first = await hold(one, usd / 4n);
    one.money.commitHold(first.id, 0n);
    await credit(-usd);
    expect(await hold(one, usd / 4n, { limit: 0n })).toMatchObject({ isHeld: false });
    expect((await rows()).leased).toBe(0n);
  });

  test('what is idle in its own lease counts for the floor, whichever limit is asked for', async () => {
    await credit(5n * cent);
    const [one, other] = [start(), start()];
    const first = await hold(one, 3n * cent);
    one.money.commitHold(first.id, 0n);
    // Less than the floor is left beside the leases.
    expect(await hold(other, (12n * cent) / 10n)).toMatchObject({ isHeld: true });
    const meters = [
      { name: balance, limit: 10n * usd, floor: cent },
      { name: 'key:key_1:quota', limit: usd, floor: 1n },
    ];
    const request = { id: 'req_two', amount: cent / 10n, meters, expiresAt: Infinity };
    expect(await one.money.hold(request)).toMatchObject({ isHeld: true });
  });

  test('a dead node keeps what it leased until its life is closed or too old', async () => {
    await credit(1n * usd);
    const [dead, other] = [start(), start()];
    const open = await hold(dead, usd);
    await expect(hold(other, usd)).resolves.toMatchObject({ isHeld: false });
    await closeLives(database, dead.lives);
    await wait(150);
    expect(await hold(other, usd)).toMatchObject({ isHeld: true });
    expect(await free(other)).toMatchObject([{ node: 'node_1', amount: usd }]);
    expect((await rows()).leased).toBe(0n);
    // It begins a new life with nothing leased.
    await expect(hold(dead, usd)).resolves.toMatchObject({ isHeld: true });
    expect(dead.lives).toHaveLength(2);
    expect(ended).toEqual([]);
    dead.money.commitHold(open.id, 0n);
    expect(ended).toEqual([dead.lives[0]]);
  });

  test('a charge of a freed life is recorded as late', async () => {
    await credit(1n * usd);
    const [silent, other] = [start(), start()];
    const open = await hold(silent, usd / 2n);
    await free(silent);
    expect(await hold(other, usd)).toMatchObject({ isHeld: true, amount: usd });
    await finish(silent, open.id, usd / 4n);
    const row = await database.kysely.selectFrom('usage').select('late').executeTakeFirst();
    expect(row).toEqual({ late: usd / 4n });
    expect(await rows()).toMatchObject({ spent: usd / 4n, leased: usd, left: usd });
  });

  test('a lowered limit calls back what is idle, and what ends later follows', async () => {
    await credit(1n * usd);
    const [node] = [start()];
    const open = await hold(node, usd / 10n);
    const idle = await hold(node, usd / 10n);
    node.money.commitHold(idle.id, 0n);
    expect((await rows()).leased).toBeGreaterThan(usd / 10n);
    await credit((-95n * usd) / 100n);
    await changed();
    await vi.waitFor(async () => expect((await rows()).leased).toBe(usd / 10n), 15_000);
    node.money.commitHold(open.id, 0n);
    await vi.waitFor(async () => expect((await rows()).leased).toBe(0n), 15_000);
    expect(await hold(node, usd)).toMatchObject({ isHeld: true, amount: usd / 20n });
  });

  test('a lowered limit calls back what is idle within five seconds without a notification', async () => {
    await credit(1n * usd);
    const [node] = [start()];
    const idle = await hold(node, usd / 10n);
    node.money.commitHold(idle.id, 0n);
    expect((await rows()).leased).toBeGreaterThan(0n);
    await credit((-95n * usd) / 100n);
    await vi.waitFor(async () => expect((await rows()).leased).toBe(0n), 15_000);
  });

  test('a credit counts with the next draw', async () => {
    const [node] = [start()];
    expect(await hold(node, usd)).toMatchObject({ isHeld: false, denied: balance });
    await credit(1n * usd);
    await changed();
    await vi.waitFor(
      async () => expect(await hold(node, usd)).toMatchObject({ isHeld: true, amount: usd }),
      15_000,
    );
  });

  test('nobody draws until a database that went back has its records again', async () => {
    await credit(1n * usd);
    const records = Promise.withResolvers<void>();
    const [one, other] = [start(records.promise), start()];
    await hold(one, usd / 10n);
    await hold(other, usd / 10n);
    await sql`update lives set number = 0 where id = ${one.lives[0]}`.execute(database.kysely);
    const decided: string[] = [];
    const ask = (node: Node, amount: bigint) =>
      hold(node, amount).then(({ isHeld }) => decided.push(`${isHeld} ${amount}`));
    const asking = [ask(one, usd / 2n)];
    await vi.waitFor(async () => {
      const generation = database.kysely.selectFrom('lease_generation').select('number');
      expect(await generation.executeTakeFirst()).toEqual({ number: 1 });
    });
    asking.push(ask(other, usd / 4n));
    await wait(500);
    expect(decided).toEqual([]);
    records.resolve();
    await Promise.all(asking);
    expect(decided.toSorted()).toEqual([`true ${usd / 2n}`, `true ${usd / 4n}`].toSorted());
  });

  test('a look that is slower than a command is not taken for a database that went back', async () => {
    await credit(1n * usd);
    const [node, other] = [start(), start()];
    await hold(node, usd / 10n);
    const looked = Promise.withResolvers<void>();
    const kept = Promise.withResolvers<void>();
    slow = async (found) => {
      looked.resolve();
      await kept.promise;
      return found;
    };
    await looked.promise;
    await hold(node, usd / 2n);
    // Calls back what is idle on the first node.
    await hold(other, usd / 5n);
    kept.resolve();
    await wait(100);
    expect(errors).toEqual([]);
  });

  test('what requests hold is known on every node, idle leases are not', async () => {
    await credit(1n * usd);
    const [one, other] = [start(), start()];
    const open = await hold(one, usd / 10n);
    await hold(other, usd / 20n);
    const idle = await hold(one, usd / 10n);
    one.money.commitHold(idle.id, 0n);
    const held = { spentAmount: 0n, heldAmount: (usd * 3n) / 20n };
    for (const { money } of [one, other, start()]) {
      await vi.waitFor(async () => expect(await money.read(balance)).toEqual(held), 15_000);
    }
    await finish(one, open.id, usd / 10n);
    const after = { spentAmount: usd / 10n, heldAmount: usd / 20n };
    await vi.waitFor(async () => expect(await other.money.read(balance)).toEqual(after), 15_000);
  });

  test('what a request drew later backs its charge', async () => {
    await credit(1n * usd);
    const [node] = [start()];
    const first = await hold(node, usd / 2n);
    const more = await hold(node, usd / 2n, { id: `${first.id}+1` });
    expect(more).toMatchObject({ isHeld: true, amount: usd / 2n });
    const lease = node.money.announceCharge([first.id, more.id], meterNames, usd);
    expect(lease?.parts[0]).toBe(String(usd));
    expect(await hold(node, usd / 2n)).toMatchObject({ isHeld: false });
  });

  test('a charge whose record was not written gives its part back', async () => {
    await credit(1n * usd);
    const [node] = [start()];
    const [lost, found] = [await hold(node, usd / 2n), await hold(node, usd / 4n)];
    node.money.announceCharge([lost.id], meterNames, usd / 2n);
    const lease = node.money.announceCharge([found.id], meterNames, usd / 4n);
    for (const { id } of [lost, found]) node.money.commitHold(id, 0n);
    // The write of one had come through nevertheless.
    await recordAll(database, [
      record(found.id, { charge: charge(usd / 4n, lease === null ? {} : { lease }) }),
    ]);
    const later = await hold(node, usd / 8n);
    await finish(node, later.id, usd / 8n);
    await wait(leaseRules.lookEveryMs + 500);
    // A record that was written later is not in the database yet, so nobody knows.
    expect((await rows()).leased).toBeGreaterThanOrEqual(usd / 2n);
    applied.until = Infinity;
    await wait(leaseRules.lookEveryMs + 500);
    const left = usd - usd / 4n - usd / 8n;
    expect(await hold(node, left)).toMatchObject({ isHeld: true, amount: left });
    const after = await rows();
    expect(after.spent + after.leased).toBe(usd);
  });

  test('a record that the database rejects gives its part back', async () => {
    await credit(1n * usd);
    const [node] = [start()];
    const { id } = await hold(node, usd);
    const lease = node.money.announceCharge([id], meterNames, usd)!;
    node.money.commitHold(id, usd);
    expect(await hold(node, usd)).toMatchObject({ isHeld: false });
    node.money.reject([{ meter: balance, life: 'another', part: usd }]);
    expect(await hold(node, usd)).toMatchObject({ isHeld: false });
    node.money.reject([{ meter: balance, life: lease.life, part: usd }]);
    await wait(150);
    expect(await hold(node, usd)).toMatchObject({ isHeld: true, amount: usd });
  });

  test('a node that has not been heard for nine tenths of the age asks before it admits', async () => {
    await credit(1n * usd);
    const [sleeper] = [start()];
    const first = await hold(sleeper, usd / 10n);
    sleeper.money.commitHold(first.id, 0n);
    expect(sleeper.money.hasLeases).toBe(true);
    await free(sleeper);
    sleeper.clock.skipped = (ageMs * 9) / 10;
    expect(sleeper.money.hasLeases).toBe(false);
    expect(await hold(sleeper, usd / 10n)).toMatchObject({ isHeld: true });
    expect(sleeper.lives).toHaveLength(2);
  });

  test('a database that leases nothing is named, also soon after the last time, until it leases again', async () => {
    await credit(1n * usd);
    const node = start();
    await hold(node, cent);
    for (const times of [1, 2]) {
      await refuseCommands();
      await expectRefusal(node, () => hold(node, usd / 10n));
      expect(node.money.isAway).toBe(true);
      expect(node.money).toMatchObject({ hasFailed: true, hasLeases: false });
      await allowCommands();
      await vi.waitFor(() => hold(node, usd / 10n), patience);
      expect(node.money).toMatchObject({ isAway: false, hasFailed: false });
      expect(errors).toEqual(Array(times).fill('cannot lease funds'));
      expect(infos).toEqual(Array(times).fill('leasing funds again'));
    }
    await refuseCommands();
    await expectRefusal(node, () => hold(node, usd / 2n));
    // Nobody asks any more.
    node.clock.skipped += leaseRules.awayMs + leaseRules.recentMs;
    expect(node.money).toMatchObject({ isAway: false, hasFailed: true });
    await allowCommands();
  });

  /** Signs of life are written, and leases are not. */
  const refuseCommands = async () => {
    await sql`create or replace function refuse() returns trigger language plpgsql as $$ begin raise exception 'locked'; end $$`.execute(
      database.kysely,
    );
    await sql`create trigger refuse before insert or update on leases for each statement execute function refuse()`.execute(
      database.kysely,
    );
  };
  const allowCommands = () => sql`drop trigger refuse on leases`.execute(database.kysely);
});

function entry(id: string) {
  return { transaction_id: id, kind: 'top-up' as const, actor: 'ada', reason: 'test', time: 1 };
}
