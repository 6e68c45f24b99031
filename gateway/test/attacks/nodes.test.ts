import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listenersOf } from '../database/databases.ts';
import { admittedOf, loops } from '../faults/nodes.ts';
import { limitOf, type Account } from './accounts.ts';
import { ask, askMuch, forMilliseconds, heldPerRequest, type Answer } from './ask.ts';
import { expectExact, expectPatience, expectSpendable, spentBy, sum } from './exactness.ts';
import { cannotAttack, openWorld, type AttackedNode, type World } from './world.ts';

/* Money that is leased to a node which does not respond, or which has no need of it. */

const rounds = loops > 1 ? 30 : 1;
const attackFor = loops > 1 ? 20_000 : 3_000;

/** USD. */
const held = Number(heldPerRequest) / 1e9;

const each = (name: string, count: number, limit: Account['limit'], amount: number): Account[] =>
  Array.from({ length: count }, (_, at) => ({ name: `${name}-${at}`, limit, amount }));

const kinds = ['balance', 'quota', 'daily'] as const;
const idle = kinds.flatMap((kind) => each(`idle-${kind}`, rounds, kind, 0.3));
const short = each('short', rounds, 'balance', 0.3);
/** Limits with room for one request in each round, to the nano-USD or with less than it may cost. */
const one = Array.from({ length: rounds }, (_, round) =>
  kinds.flatMap((kind) => [
    ...each(`one-${kind}-${round}`, 1, kind, held),
    ...each(`less-${kind}-${round}`, 1, kind, held / 2),
  ]),
);
/** Requests that a node has under way when it is killed: they hold nearly all of the balance. */
const cut = 6;
const restarted = each('restarted', 2, 'balance', (cut + 0.25) * held);
const silent = each('silent', 1, 'balance', 0.3);
const deaf = [...each('deaf', 1, 'balance', 3), ...each('deaf-rich', 1, 'none', 0)];
const lowered: readonly Account[] = [
  { name: 'lowered-quota', limit: 'quota', amount: 1_000 },
  { name: 'lowered-day', limit: 'daily', amount: 1_000 },
];
const credited = each('credited', 1, 'balance', 1);
const killed = [
  ...each('killed', 1, 'balance', 3),
  ...each('killed-day', 1, 'daily', 3),
  ...each('killed-rich', 1, 'none', 0),
];

const all = [
  ...idle,
  ...short,
  ...one.flat(),
  ...restarted,
  ...silent,
  ...deaf,
  ...credited,
  ...killed,
  ...lowered,
];

const costOf = (answers: readonly Answer[]): bigint => sum(answers.map(({ cost }) => cost ?? 0n));

describe.skipIf(cannotAttack)('three nodes that lease money', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ accounts: all });
  }, 120_000);
  afterAll(() => world.close());

  const nodeAt = (at: number): AttackedNode => world.nodes[at % world.nodes.length]!;
  const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status);

  /** A node leases nearly all of it, and uses half. */
  const leaseAt = (node: AttackedNode, account: Account): Promise<Answer[]> =>
    Promise.all([0, 1, 2].map(() => ask(node, account, { fault: 'delay=100' })));

  test('what is idle on another node is admitted, not refused', { timeout: 60_000 }, async () => {
    for (const [at, account] of idle.entries()) {
      const answers = await leaseAt(nodeAt(at), account);
      answers.push(await ask(nodeAt(at + 1), account));
      expect([account.name, statuses(answers)]).toEqual([account.name, [200, 200, 200, 200]]);
      await expectSpendable(world, [account], answers);
      await expectExact(world, [account], answers);
    }
  });

  test(
    'two nodes that are short at once are both admitted, and neither waits for the other',
    { timeout: 60_000 },
    async () => {
      for (const [at, account] of short.entries()) {
        const answers = await leaseAt(nodeAt(at), account);
        answers.push(
          ...(await Promise.all([ask(nodeAt(at + 1), account), ask(nodeAt(at + 2), account)])),
        );
        expect([account.name, statuses(answers)]).toEqual([
          account.name,
          [200, 200, 200, 200, 200],
        ]);
        await expectSpendable(world, [account], answers);
        await expectExact(world, [account], answers);
      }
    },
  );

  test(
    'P-14 of parallel requests with room for exactly one, exactly one is admitted',
    { timeout: 60_000 + rounds * 5_000 },
    async () => {
      for (const round of one) {
        const byAccount = await Promise.all(
          round.map((account) =>
            Promise.all(
              // Long enough that the last is decided before the first is settled.
              Array.from({ length: 12 }, (_, at) =>
                ask(nodeAt(at), account, { fault: 'delay=2500' }),
              ),
            ),
          ),
        );
        for (const [at, answers] of byAccount.entries()) {
          const account = round[at]!;
          const admitted = answers.filter(({ status }) => status === 200);
          expect([account.name, admitted.length]).toEqual([account.name, 1]);
          // On a machine with other work, a node may not say in time whether it has idle money.
          const refusals = [account.limit === 'daily' ? 429 : 402, 503];
          const others = answers.filter(({ status }) => status !== 200);
          expect(others.filter(({ status }) => !refusals.includes(status))).toEqual([]);
        }
        const answers = byAccount.flat();
        await expectSpendable(world, round, answers);
        await expectExact(world, round, answers);
      }
    },
  );

  test(
    'a node that is killed with responses under way, and is back at once, locks nobody out',
    { timeout: 60_000 },
    async () => {
      for (const [at, account] of restarted.entries()) {
        const victim = nodeAt(at);
        const other = nodeAt(at + 1);
        const asked = world.place.simulator.requests().length;
        const underWay = Promise.all(
          Array.from({ length: cut }, () => ask(victim, account, { fault: 'delay=15000' })),
        );
        await expect
          .poll(() => world.place.simulator.requests().length, { interval: 20 })
          .toBe(asked + cut);
        await victim.kill();
        const answers = await underWay;
        expect(new Set(statuses(answers))).toEqual(new Set([0]));
        const meanwhile = [await ask(other, account)];
        await victim.start();
        const back = performance.now();
        while (meanwhile.at(-1)?.status !== 200 && performance.now() - back < 3_000) {
          meanwhile.push(await ask(other, account));
        }
        // Before, a refusal would be a guess: the dead node may have something idle.
        expect(new Set(statuses(meanwhile))).toEqual(new Set([503, 200]));
        await expectSpendable(world, [account], meanwhile);
        await expectExact(world, [account], [...answers, ...meanwhile]);
      }
    },
  );

  test(
    'a node that is silent: 503 with Retry-After, and right when it is back',
    { timeout: 60_000 },
    async () => {
      const [account] = silent;
      const answers = [await ask(nodeAt(0), account!)];
      nodeAt(0).freeze();
      // More than is left beside what the silent node has drawn.
      const refused = await Promise.all(
        Array.from({ length: 4 }, () => ask(nodeAt(1), account!, { fault: 'delay=500' })),
      );
      nodeAt(0).thaw();
      expect(refused.filter(({ status }) => status === 402)).toEqual([]);
      const waiting = refused.filter(({ status }) => status === 503);
      expect(waiting.length).toBeGreaterThan(0);
      expect(new Set(waiting.map(({ retryAfter }) => retryAfter))).toEqual(new Set(['1']));
      answers.push(...refused);
      await expectSpendable(world, [account!], answers);
      await expectExact(world, [account!], answers);
    },
  );

  test(
    'a node whose notifications are lost still gives back what is idle',
    { timeout: 60_000 },
    async () => {
      const continues = forMilliseconds(attackFor);
      const cut = async (): Promise<void> => {
        while (continues()) {
          await world.postgres.query(`
          select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'sluice listening'`);
          await wait(100);
        }
      };
      const accounts = deaf;
      const [answers] = await Promise.all([
        askMuch({ nodes: world.nodes, accounts, clients: 4, continues }),
        cut(),
      ]);
      expect(admittedOf(answers)).toBeGreaterThan(3);
      expectPatience(accounts, answers);
      // They listen again: each with one connection.
      await expect
        .poll(async () => (await listenersOf(world.database)).length)
        .toBe(world.nodes.length);
      await expectSpendable(world, accounts, answers);
      await expectExact(world, accounts, answers);
    },
  );

  test(
    'credits count at once on every node, and nothing beyond them',
    { timeout: 60_000 },
    async () => {
      const account = { ...credited[0]!, amount: 2.5 };
      // With less than the last request may have had to hold.
      const nearlyAll = limitOf(account) - limitOf({ amount: 0.2 });
      let isOver = false;
      const load = askMuch({
        nodes: world.nodes,
        accounts: credited,
        clients: 8,
        continues: () => !isOver,
      });
      for (let turn = 0; turn < 3; turn += 1) {
        await wait(700);
        await world.sluice(
          0,
          'user',
          'credit',
          'credited-0@example.com',
          '0.5',
          '--reason',
          'test',
        );
      }
      // They are spent while the load lasts.
      await expect
        .poll(() => spentBy(world, account), { timeout: 15_000, interval: 100 })
        .toBeGreaterThan(nearlyAll);
      isOver = true;
      const answers = await load;
      await expectSpendable(world, [account], answers);
      await expectExact(world, [account], answers);
    },
  );

  test.for(lowered)(
    'a lowered limit ($name) stops every node at once, idle leases or not',
    { timeout: 60_000 },
    async (account) => {
      let end = Infinity;
      const load = askMuch({
        nodes: world.nodes,
        accounts: [account],
        clients: 8,
        continues: () => performance.now() < end,
      });
      await expect.poll(() => spentBy(world, account)).toBeGreaterThan(0n);
      const spent = await spentBy(world, account);
      // A little more than is in the books: all of it is leased many times over.
      const amount = Math.ceil(Number(spent) / 1e8) / 10 + 0.5;
      const changed = { ...account, amount };
      world.describe(all.map((each) => (each.name === account.name ? changed : each)));
      await world.sluice(0, 'reload');
      const heard = performance.now() + 1_000;
      end = heard + 500;
      const answers = await load;
      expect(answers.filter(({ startedAt }) => startedAt >= heard)).not.toEqual([]);
      const before = costOf(answers.filter(({ startedAt }) => startedAt < heard));
      expect(before).toBeGreaterThan(0n);
      const limit = before > limitOf(changed) ? Number(before) / 1e9 : amount;
      await expectSpendable(world, [changed], answers);
      await expectExact(world, [{ ...changed, amount: limit }], answers);
    },
  );

  test(
    'R-26 nodes that are killed and restarted in turn exceed no limit',
    { timeout: 120_000 },
    async () => {
      const accounts = killed;
      const continues = forMilliseconds(attackFor);
      const kill = async (): Promise<void> => {
        for (let at = 0; continues(); at += 1) {
          await wait(500);
          await nodeAt(at).kill();
          await nodeAt(at).start();
        }
      };
      const [answers] = await Promise.all([
        askMuch({ nodes: world.nodes, accounts, clients: 6, continues }),
        kill(),
      ]);
      expect(admittedOf(answers)).toBeGreaterThan(3);
      expectPatience(accounts, answers);
      await expectSpendable(world, accounts, answers);
      await expectExact(world, accounts, answers);
    },
  );
});
