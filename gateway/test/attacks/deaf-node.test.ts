import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limitOf, type Account } from './accounts.ts';
import { ask, type Answer } from './ask.ts';
import { expectExact, expectPatience, expectSpendable, sum } from './exactness.ts';
import { cannotAttack, openWorld, type AttackedNode, type World } from './world.ts';

/*
 * A node that no notification reaches and that does not know it, as behind a pooler of transactions. What it would have
 * heard it sees when it looks: calls for idle money every two seconds, changes every four.
 */

const idle: Account = { name: 'idle', limit: 'balance', amount: 0.3 };
const wanted: Account = { name: 'wanted', limit: 'balance', amount: 0.3 };
const lowered: Account = { name: 'lowered', limit: 'quota', amount: 1_000 };
const all = [idle, wanted, lowered];

/** Milliseconds; with time for a machine with other work. */
const untilItLooks = 5_000;

describe.skipIf(cannotAttack)('a node that listens to nobody', () => {
  let world: World;
  let deaf: AttackedNode;
  let other: AttackedNode;
  beforeAll(async () => {
    world = await openWorld({ accounts: all, nodes: 2 });
    [deaf, other] = world.nodes as [AttackedNode, AttackedNode];
    deaf.way.deafen();
  }, 120_000);
  afterAll(() => world.close());

  /** Leases nearly all of it at this node, and asks at another until it is admitted. */
  const handOver = async (from: AttackedNode, to: AttackedNode, account: Account) => {
    const answers = await Promise.all(
      [0, 1, 2].map(() => ask(from, account, { fault: 'delay=100' })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const started = performance.now();
    let answer = await ask(to, account);
    while (answer.status === 503 && performance.now() - started < untilItLooks) {
      answers.push(answer);
      await wait(100);
      answer = await ask(to, account);
    }
    answers.push(answer);
    return answers;
  };

  const expectCalm = async (account: Account, answers: Answer[]): Promise<void> => {
    expectPatience([account], answers);
    await expectSpendable(world, [account], answers);
    await expectExact(world, [account], answers);
  };

  test('gives back what is idle when it looks', { timeout: 60_000 }, async () => {
    const answers = await handOver(deaf, other, idle);
    expect(answers.at(-1)?.status).toBe(200);
    await expectCalm(idle, answers);
  });

  test('gets what is idle at another node', { timeout: 60_000 }, async () => {
    const answers = await handOver(other, deaf, wanted);
    expect(answers.at(-1)?.status).toBe(200);
    await expectCalm(wanted, answers);
  });

  test('keeps to a lowered limit within five seconds', { timeout: 60_000 }, async () => {
    let isOver = false;
    const continues = () => !isOver;
    const answers: Answer[] = [];
    // Not so fast that a key which is always refused would not be read any more.
    const askOn = async (): Promise<void> => {
      while (continues()) {
        const some = await Promise.all([0, 1, 2].map(() => ask(deaf, lowered)));
        answers.push(...some);
        if (some.every(({ status }) => status !== 200)) await wait(200);
      }
    };
    const load = askOn();
    await expect.poll(() => answers.length).toBeGreaterThan(8);
    // Less than is spent.
    const amount = Math.ceil(Number(sum(answers.map(({ cost }) => cost ?? 0n))) / 2e6) / 1e3;
    const changed = { ...lowered, amount };
    world.describe(all.map((each) => (each === lowered ? changed : each)));
    await world.sluice(1, 'reload');
    const bound = performance.now() + 5_000;
    await expect.poll(() => answers.some(({ startedAt }) => startedAt >= bound)).toBe(true);
    isOver = true;
    await load;
    const before = sum(
      answers.filter(({ startedAt }) => startedAt < bound).map(({ cost }) => cost ?? 0n),
    );
    expect(before).toBeGreaterThan(limitOf(changed));
    await expectCalm({ ...changed, amount: Number(before) / 1e9 }, answers);
  });
});
