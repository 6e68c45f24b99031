import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { OpenDatabase } from '#database/index.ts';
import type { Caller } from '#identity/index.ts';
import { listTeams, listUsers, upsertTeam, upsertUser } from '#identity/index.ts';
import { creditAccount, heldByTasks, spentOf } from '#ledger/index.ts';
import { change, dialects, isSkipped, openTestDatabase } from '../database/databases.ts';
import { team, user } from '../database/samples.ts';
import {
  bury,
  differences,
  keepVideoPrice,
  refusalOf,
  startNode,
  usd,
  type Death,
  type Ledger,
  type LedgerNode,
  type LedgerTask,
} from './task-ledger.ts';
import { noonZone } from '../support/time-zones.ts';

const start = 10n * usd;

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('what tasks hold', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let database: OpenDatabase;
    let ledger: Ledger;
    let balance: string;
    let nodes: LedgerNode[];

    beforeEach(async () => {
      opened = await openTestDatabase(dialect);
      ({ database } = opened);
      nodes = [];
      await change(database, async (file) => {
        await upsertUser(file, user);
        await upsertTeam(file, team);
      });
      const userId = (await listUsers(database.kysely))[0]!.id;
      balance = `user:${userId}:balance`;
      ledger = { database, dialect, url: opened.url, caller: callerOf(userId, start) };
      await keepVideoPrice(ledger);
    });
    afterEach(async () => {
      await Promise.all(nodes.map((node) => node.close()));
      await opened.close();
    });

    const startOne = (of = ledger): LedgerNode => {
      const node = startNode(of);
      nodes.push(node);
      return node;
    };
    /** Only PostgreSQL has several. */
    const startAll = (): LedgerNode[] =>
      Array.from({ length: dialect === 'postgres' ? 3 : 1 }, () => startOne());

    const stateOf = async (meter = balance) => ({
      spent: (await spentOf(database.kysely, [meter])).get(meter),
      held: (await heldByTasks(database.kysely, [meter])).get(meter),
    });

    /** Whoever asks alone is admitted to all that is left. */
    const takesAll = async (node: LedgerNode, seconds: number): Promise<LedgerTask> => {
      const task = await vi.waitFor(() => node.submit(seconds), { timeout: 15_000, interval: 100 });
      return task!;
    };

    /** With a limit that the caller of one process knows. */
    const creditTo = async (amount: bigint): Promise<void> => {
      await change(database, (file) =>
        creditAccount(file, {
          account: `user:${ledger.caller.userId}`,
          amount: amount - ledger.caller.user.funding,
          kind: 'correction',
          actor: 'test',
          reason: 'a test',
        }),
      );
      ledger = { ...ledger, caller: callerOf(ledger.caller.userId, amount) };
    };

    test('is all of the bound, or nothing: of parallel submits with room for one, one is admitted', async () => {
      const all = startAll();
      const names = await Promise.all(
        Array.from({ length: 12 }, (_, at) => refusalOf(all[at % all.length]!.submit(6))),
      );
      const refusals = names.filter((name) => name !== null);
      expect(refusals).toHaveLength(11);
      expect(refusals.every((name) => /^(?:insufficient_balance|unavailable)$/.test(name))).toBe(
        true,
      );
      expect(await stateOf()).toEqual({ spent: 0n, held: 6n * usd });
      expect(await refusalOf(startOne().submit(5))).toBe('insufficient_balance');
      expect(await stateOf()).toEqual({ spent: 0n, held: 6n * usd });
      expect(await differences(ledger)).toEqual([]);
    });

    test('is moved to what was spent by the end of the task, and the rest is free again', async () => {
      const [node, other = node] = startAll();
      const first = await node!.submit(10);
      expect(await refusalOf(other!.submit(1))).toBe('insufficient_balance');
      await other!.end(first!, 6);
      expect(await stateOf()).toEqual({ spent: 6n * usd, held: 0n });
      const next = await takesAll(node!, 4);
      await other!.end(next, null);
      expect(await stateOf()).toEqual({ spent: 6n * usd, held: 0n });
      expect(await differences(ledger)).toEqual([]);
    });

    test('may be passed by the charge, which then counts in full', async () => {
      const [node] = startAll();
      const task = await node!.submit(5);
      await node!.end(task!, 12);
      expect(await stateOf()).toEqual({ spent: 12n * usd, held: 0n });
      // What is idle in leases goes back with the next look.
      const leased = () =>
        database.kysely
          .selectFrom('spent_totals')
          .select('leased')
          .where('leased', '<>', 0n)
          .execute();
      await vi.waitFor(async () => expect(await leased()).toEqual([]), { timeout: 15_000 });
      expect(await refusalOf(node!.submit(1))).toBe('insufficient_balance');
      expect(await differences(ledger)).toEqual([]);
    });

    test('is shown as held, and outlives processes', async () => {
      const [node] = startAll();
      const task = (await node!.submit(7))!;
      const shown = { spentAmount: 0n, heldAmount: 7n * usd };
      expect(await node!.money.read(balance)).toEqual(shown);
      await bury(ledger, node!);
      const next = startOne();
      expect(await refusalOf(next.submit(4))).toBe('insufficient_balance');
      expect(await next.money.read(balance)).toEqual(shown);
      await next.end(task, 7);
      await takesAll(next, 3);
      expect(await next.money.read(balance)).toEqual({
        spentAmount: 7n * usd,
        heldAmount: 3n * usd,
      });
    });

    test('stays if the limit is lowered below it, and nothing else is admitted meanwhile', async () => {
      const [node] = startAll();
      const task = (await node!.submit(8))!;
      await creditTo(5n * usd);
      const poorer = startOne();
      expect(await refusalOf(poorer.submit(1))).toBe('insufficient_balance');
      await node!.end(task, 2);
      // A process on SQLite is the only one: it knows what it ended itself.
      await takesAll(dialect === 'sqlite' ? startOne() : poorer, 3);
      expect(await stateOf()).toEqual({ spent: 2n * usd, held: 3n * usd });
      expect(await differences(ledger)).toEqual([]);
    });

    test('is refused by the budget of a team with its own error, and counts in the windows of the admission', async () => {
      const teamId = (await listTeams(database.kysely))[0]!.id;
      const member = memberOf(ledger.caller, teamId);
      const node = startOne({ ...ledger, caller: member });
      const task = (await node.submit(15))!;
      expect(await refusalOf(node.submit(6))).toBe('team_daily_budget_exceeded');
      const daily = task.meters.find((meter) => meter.startsWith(`team:${teamId}:daily:`));
      expect(daily).toMatch(/:\d{4}-\d\d-\d\d$/);
      expect(await stateOf(daily)).toEqual({ spent: 0n, held: 15n * usd });
      await node.end(task, 15);
      expect(await stateOf(daily)).toEqual({ spent: 15n * usd, held: 0n });
      expect(await differences(ledger)).toEqual([]);
    });

    test('is compared with the tasks that are open, and each task with its row', async () => {
      const [node] = startAll();
      const [first, second] = [(await node!.submit(2))!, (await node!.submit(3))!];
      await node!.end(first, 2);
      expect(await differences(ledger)).toEqual([]);
      const { kysely } = database;
      const found = async () =>
        (await differences(ledger))
          .filter(({ check }) => check === 'task')
          .map(({ subject, expected, found: wrong }) => `${subject}: ${expected}, ${wrong}`);
      await kysely
        .updateTable('spent_totals')
        .set({ held: 1n })
        .where('meter', '=', balance)
        .execute();
      expect(await found()).toEqual([`${balance}: ${3n * usd} held, 1 held`]);
      await kysely
        .updateTable('spent_totals')
        .set({ held: 3n * usd })
        .where('meter', '=', balance)
        .execute();
      await kysely.updateTable('tasks').set({ quantity: 1 }).where('id', '=', first.id).execute();
      expect(await found()).toEqual([`${first.id}: a quantity of 1, a quantity of 2000`]);
      await kysely
        .updateTable('tasks')
        .set({ quantity: 2_000 })
        .where('id', '=', first.id)
        .execute();
      await kysely
        .updateTable('tasks')
        .set({ state: 'failed' })
        .where('id', '=', first.id)
        .execute();
      expect(await found()).toEqual([
        `${first.id}: a row that is failed, a row that is completed`,
        `${first.id}: no cost, a cost of ${2n * usd}`,
      ]);
      await kysely
        .updateTable('tasks')
        .set({ state: 'succeeded' })
        .where('id', '=', first.id)
        .execute();
      await kysely
        .updateTable('tasks')
        .set({ state: 'expired' })
        .where('id', '=', second.id)
        .execute();
      expect(await found()).toContain(
        `${second.id}: expired with a usage row, expired with no usage row`,
      );
      await kysely
        .updateTable('tasks')
        .set({ state: 'running' })
        .where('id', '=', second.id)
        .execute();
      await kysely
        .updateTable('tasks')
        .set({ state: 'queued' })
        .where('id', '=', first.id)
        .execute();
      expect(await found()).toContain(
        `${first.id}: queued with no usage row, queued with a usage row`,
      );
    });

    test.each<[Death, bigint]>([
      ['held', 0n],
      ['kept', 0n],
      ['committed', 4n * usd],
    ])(
      'of a process that dies when its hold was %s is that of the database',
      async (death, held) => {
        const [node] = startAll();
        const task = await node!.submit(4, death);
        await bury(ledger, node!);
        const next = startOne();
        await takesAll(next, Number((start - held) / usd));
        expect(await stateOf()).toEqual({ spent: 0n, held: start });
        if (task !== null) await next.end(task, 4);
        expect(await differences(ledger)).toEqual([]);
      },
    );

    test('is free again if the transaction fails', async () => {
      const [node] = startAll();
      await node!.submit(1);
      const failing = vi.spyOn(database.kysely, 'transaction').mockImplementationOnce(() => {
        throw new Error('away');
      });
      await expect(node!.submit(9)).rejects.toThrow('away');
      failing.mockRestore();
      await takesAll(node!, 9);
      expect(await stateOf()).toEqual({ spent: 0n, held: start });
      expect(await differences(ledger)).toEqual([]);
    });

    test('agrees with a model after random histories, whoever ends a task and whoever dies', async () => {
      const step = fc.oneof(
        {
          weight: 4,
          arbitrary: fc.record({
            do: fc.constant('submit'),
            seconds: fc.integer({ min: 1, max: 6 }),
          }),
        },
        {
          weight: 3,
          arbitrary: fc.record({
            do: fc.constant('end'),
            which: fc.nat(9),
            made: fc.option(fc.integer({ min: 0, max: 4 })),
          }),
        },
        {
          weight: 1,
          arbitrary: fc.record({
            do: fc.constant('die'),
            death: fc.constantFrom<Death[]>('held', 'kept', 'committed'),
          }),
        },
      );
      let spent = 0n;
      const all = startAll();
      const open: LedgerTask[] = [];
      let turn = 0;
      const run = async (taken: typeof step extends fc.Arbitrary<infer Step> ? Step : never) => {
        const at = (turn += 1) % all.length;
        const node = all[at]!;
        if ('seconds' in taken) {
          const task = await node.submit(taken.seconds).catch(() => null);
          if (task !== null) open.push(task);
        } else if ('which' in taken) {
          const [task] = open.splice(taken.which % Math.max(open.length, 1), 1);
          if (task === undefined) return;
          const made = taken.made === null ? null : Math.min(taken.made, Number(task.amount / usd));
          await node.end(task, made);
          spent += BigInt(made ?? 0) * usd;
        } else {
          const task = await node.submit(1, taken.death).catch(() => null);
          if (task !== null) open.push(task);
          await bury(ledger, node);
          all[at] = startOne();
        }
      };
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
          for (const taken of steps) await run(taken);
          const held = open.reduce((sum, { amount }) => sum + amount, 0n);
          expect(await stateOf()).toEqual({ spent, held });
          expect(spent + held).toBeLessThanOrEqual(start);
          expect(await differences(ledger)).toEqual([]);
        }),
        { numRuns: 8, endOnFailure: true },
      );
    }, 120_000);
  });
});

describe.skipIf(isSkipped('postgres'))('what a task takes of leases', () => {
  let opened: Awaited<ReturnType<typeof openTestDatabase>>;
  let ledger: Ledger;
  const nodes: LedgerNode[] = [];
  beforeEach(async () => {
    opened = await openTestDatabase('postgres');
    const { database, url } = opened;
    await change(database, (file) => upsertUser(file, user));
    const userId = (await listUsers(database.kysely))[0]!.id;
    ledger = { database, dialect: 'postgres', url, caller: callerOf(userId, start) };
    await keepVideoPrice(ledger);
  });
  afterEach(async () => {
    await Promise.all(nodes.splice(0).map((node) => node.close()));
    await opened.close();
  });
  const startOne = (): LedgerNode => {
    const node = startNode(ledger);
    nodes.push(node);
    return node;
  };

  test('calls back first what is idle on other nodes', async () => {
    const [one, other] = [startOne(), startOne()];
    const id = 'req_chat';
    const meters = [{ name: `user:${ledger.caller.userId}:balance`, limit: start, floor: 1n }];
    await one.money.hold({ id, amount: 2n * usd, meters, expiresAt: Infinity });
    one.money.commitHold(id, 0n);
    const lease = await opened.database.kysely.selectFrom('leases').selectAll().execute();
    expect(lease[0]?.drawn).toBeGreaterThan(0n);
    expect(await refusalOf(other.submit(10))).toBeNull();
  });

  test('does not keep a request from all that is left, because it was too much itself', async () => {
    const node = startOne();
    expect(await refusalOf(node.submit(12))).toBe('insufficient_balance');
    const meters = [{ name: `user:${ledger.caller.userId}:balance`, limit: start, floor: 1n }];
    const request = { id: 'req_chat', amount: 12n * usd, meters, expiresAt: Infinity };
    expect(await node.money.hold(request)).toEqual({ isHeld: true, amount: start });
  });

  test('is refused if they were freed meanwhile, and nothing is written', async () => {
    const node = startOne();
    const transaction = opened.database.kysely.transaction.bind(opened.database.kysely);
    vi.spyOn(opened.database.kysely, 'transaction').mockImplementationOnce(() => {
      const made = transaction();
      return Object.assign(Object.create(made) as typeof made, {
        async execute(run: Parameters<typeof made.execute>[0]) {
          await bury(ledger, node);
          return made.execute(run);
        },
      });
    });
    expect(await refusalOf(node.submit(5))).toBe('unavailable');
    expect(await opened.database.kysely.selectFrom('tasks').selectAll().execute()).toEqual([]);
    expect(await differences(ledger)).toEqual([]);
  });

  test('is free again once the database is known not to have the task', async () => {
    const node = startOne();
    await node.submit(1);
    const hold = (await node.billing.hold({
      id: 'req_lost',
      caller: ledger.caller,
      model: {
        price: { videoSecond: { '720P': '1' } },
        priceVersion: 'price_1',
        type: 'video',
      } as never,
      group: { name: 'default', priceMultiplier: '1' },
      bound: (rates) => [{ rate: rates.videoSecond.get('720P')!, quantity: 9_000n }],
      expiresAt: Date.now() + 60_000,
      isExact: true,
    }))!;
    node.billing.taskBeginning(hold);
    node.billing.taskBegun(hold, 'unknown');
    expect(await refusalOf(startOne().submit(9))).toMatch(/insufficient_balance|unavailable/);
    node.clock.skipped = 61_000;
    await vi.waitFor(async () => expect(await refusalOf(node.submit(9))).toBeNull(), {
      timeout: 15_000,
      interval: 500,
    });
    expect(await differences(ledger)).toEqual([]);
  });
});

function callerOf(userId: string, funding: bigint): Caller {
  return {
    keyId: 'key_1',
    keyName: 'k',
    userId,
    teamId: null,
    user: { id: userId, funding, quota: null },
    team: null,
    memberBudget: null,
    group: 'default',
    models: null,
    ips: [],
    expiresAt: null,
    quota: null,
    rpm: null,
    rph: null,
    maxConcurrency: null,
    conversion: 'lenient',
    capOutput: true,
    enabled: true,
  };
}

function memberOf(caller: Caller, teamId: string): Caller {
  return {
    ...caller,
    teamId,
    memberBudget: 50n * usd,
    team: {
      id: teamId,
      name: team.name,
      funding: 100n * usd,
      rpm: null,
      dailyBudget: 20n * usd,
      monthlyBudget: 300n * usd + 1n,
      totalBudget: null,
      enabled: true,
      unleasedMost: null,
      timeZone: noonZone,
      openWindow: null,
    },
  };
}
