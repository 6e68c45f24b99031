import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Fate } from '../support/tcp-proxy.ts';
import type { Account } from './accounts.ts';
import { ask, type Answer } from './ask.ts';
import { applied, expectExact, expectPatience, expectSpendable } from './exactness.ts';
import { cannotAttack, openWorld, type AttackedNode, type World } from './world.ts';

/*
 * The reply to one statement of a node is lost, or the statement arrives when its node has long given it up. Each fate
 * meets another node at the same time.
 */

const fates: readonly Fate[] = ['reply-cut', 'reply-held', 'late'];
const accountsOf = (name: string, amount: number) =>
  fates.map((fate): Account => ({ name: `${name}-${fate}`, limit: 'balance', amount }));
const drawn = accountsOf('drawn', 0.4);
const returned = accountsOf('returned', 0.3);
const settled = accountsOf('settled', 0.4).slice(0, 2);
const all = [...drawn, ...returned, ...settled];

/** The statement in which a life draws and returns. */
const command = [/on conflict \(id\) do update set\s+number = excluded\.number/];
/** The end of the transaction that brings rows to the database. */
const settlement = [/settled = leases\.settled \+/, /commit\0/];

describe.skipIf(cannotAttack)('nodes that each lose the reply to one statement', () => {
  let world: World;
  const answers: Answer[] = [];
  beforeAll(async () => {
    // What is idle goes back after ten seconds.
    const settings = 'limits: { lease_reserve: 0s }';
    world = await openWorld({ accounts: all, settings, nodes: fates.length + 1 });
  }, 120_000);
  afterAll(() => world.close());

  /** It loses nothing. */
  const other = (): AttackedNode => world.nodes.at(-1)!;

  const askTo = async (node: AttackedNode, account: Account, fault = ''): Promise<Answer> => {
    const answer = await ask(node, account, { fault });
    answers.push(answer);
    return answer;
  };

  /**
   * Asks until the node has stated its leases anew: then it is admitted, or knows that nothing is left. Requests come
   * also while the statement is on its way.
   */
  const recover = (node: AttackedNode, account: Account): Promise<void> => {
    const burst = async (): Promise<readonly number[]> => {
      const asked = Array.from({ length: 6 }, async (_, at) => {
        await wait(at);
        return (await askTo(node, account)).status;
      });
      return Promise.all(asked);
    };
    return expect.poll(burst, { timeout: 10_000, interval: 100 }).not.toContain(503);
  };

  /** Until nothing is left, or its node must wait for another. */
  const spend = async (node: AttackedNode, account: Account): Promise<void> => {
    while ((await askTo(node, account)).status === 200);
  };

  const expectCalm = async (accounts: readonly Account[]): Promise<void> => {
    const names = new Set(accounts.map(({ name }) => name));
    const own = answers.filter(({ account }) => names.has(account));
    expect(own.filter(({ status }) => status === 0)).toEqual([]);
    expectPatience(accounts, own);
    await expectSpendable(world, accounts, own);
    await expectExact(world, accounts, own);
  };

  test('to a draw: it counts once, and no money is locked', { timeout: 60_000 }, async () => {
    const one = async (fate: Fate, at: number): Promise<void> => {
      const node = world.nodes[at]!;
      const account = drawn[at]!;
      const statement = node.way.intercept(command, fate);
      const asked = askTo(node, account);
      await statement.met;
      await askTo(other(), account);
      // Its node states its leases anew, and asks again.
      expect((await asked).status).not.toBe(503);
      await recover(node, account);
      if (fate === 'late') await statement.deliver();
    };
    await Promise.all(fates.map(one));
    await expectCalm(drawn);
  });

  test(
    'to a return: what went back is not spent by its node, and no money is locked',
    { timeout: 60_000 },
    async () => {
      const one = async (fate: Fate, at: number): Promise<void> => {
        const node = world.nodes[at]!;
        const account = returned[at]!;
        // Nearly all is leased, and half of that is idle.
        const first = await Promise.all([0, 1, 2].map(() => askTo(node, account, 'delay=100')));
        expect(first.map(({ status }) => status)).toEqual([200, 200, 200]);
        const statement = node.way.intercept(command, fate);
        await Promise.all([statement.met, spend(other(), account)]);
        await recover(node, account);
        if (fate === 'late') await statement.deliver();
      };
      await Promise.all(fates.map(one));
      await expectCalm(returned);
    },
  );

  test('to a settlement: rows and leases count it once', { timeout: 60_000 }, async () => {
    const one = async (account: Account, at: number): Promise<void> => {
      const node = world.nodes[at]!;
      const statement = node.way.intercept(settlement, fates[at]!);
      expect((await askTo(node, account)).status).toBe(200);
      await statement.met;
      expect((await askTo(node, account)).status).toBe(200);
      await askTo(other(), account);
    };
    await Promise.all(settled.map(one));
    await applied(world);
    await expectCalm(settled);
  });

  test(
    'when all is calm, the database has no lease that no node knows',
    { timeout: 60_000 },
    async () => {
      // Each node gives back what it knows to be idle.
      const left = async () => {
        const meters = await world.database.kysely
          .selectFrom('spent_totals')
          .select(['meter', 'leased'])
          .where('leased', '<>', 0n)
          .execute();
        const leases = await world.database.kysely
          .selectFrom('leases')
          .select(['meter', 'drawn', 'settled'])
          .whereRef('drawn', '<>', 'settled')
          .execute();
        return [...meters, ...leases];
      };
      await expect.poll(left, { timeout: 40_000, interval: 500 }).toEqual([]);
    },
  );
});
