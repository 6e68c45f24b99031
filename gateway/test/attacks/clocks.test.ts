import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limitOf, type Account } from './accounts.ts';
import { ask, askMuch, forMilliseconds, type Answer } from './ask.ts';
import { applied, expectExact, expectSpendable, sum } from './exactness.ts';
import { openClockedWorld, type ClockedWorld } from './clocked-world.ts';
import { cannotAttack, type World } from './world.ts';

/* Nodes whose clocks differ by a second, at the midnights of two time zones; a node that sleeps. */

const teams: readonly Account[] = [
  { name: 'utc', limit: 'daily', amount: 0.8, zone: 'UTC' },
  { name: 'shanghai', limit: 'daily', amount: 0.8, zone: 'Asia/Shanghai' },
];
/** Milliseconds; the shortest that can be set. */
const leaseAge = 10_000;
const idle: Account = { name: 'idle', limit: 'balance', amount: 0.4 };
const underWay: Account = { name: 'under-way', limit: 'balance', amount: 0.4 };
const slept = [idle, underWay];

/** Milliseconds by which the clock of each node is late. */
const late = [0, 1_000];

describe.skipIf(cannotAttack)('two nodes', () => {
  let world: ClockedWorld;
  beforeAll(async () => {
    world = await openClockedWorld({
      accounts: [...teams, ...slept],
      settings: `billing: { lease_age: ${leaseAge}ms }`,
      late,
      time: '2026-03-30T12:00:00Z',
    });
  }, 120_000);
  afterAll(() => world.close());

  test(
    'B-16 B-19 at midnight each day has its own budget, to the nano-USD, whichever node admits',
    { timeout: 60_000 },
    async () => {
      const answers: Answer[] = [];
      for (const time of ['2026-03-30T15:59:58.000Z', '2026-03-30T23:59:58.000Z']) {
        world.stepTo(time);
        const continues = forMilliseconds(4_000);
        const load = askMuch({ nodes: world.nodes, accounts: teams, clients: 6, continues });
        // Across midnight.
        const slow = teams.map((team) => ask(world.nodes[0]!, team, { fault: 'delay=3000' }));
        answers.push(...(await load), ...(await Promise.all(slow)));
        await applied(world);
        await wait(150);
        // What is left of the day goes to whoever asks alone.
        for (const team of teams) {
          let status = 200;
          for (let turn = 0; status === 200; turn += 1) {
            const answer = await ask(world.nodes[turn % late.length]!, team);
            answers.push(answer);
            ({ status } = answer);
          }
          expect([team.name, status]).toEqual([team.name, 429]);
        }
      }
      await applied(world);
      const rows = await world.database.kysely
        .selectFrom('usage')
        .innerJoin('keys', 'keys.id', 'usage.key_id')
        .select(['keys.name', 'usage.budget_window as day', 'usage.cost', 'usage.overshoot'])
        .where('usage.cost', 'is not', null)
        .where('usage.budget_window', 'is not', null)
        .execute();
      const seen = answers.filter(({ status }) => status === 200);
      expect(rows).toHaveLength(seen.length);
      const days = new Map<string, typeof rows>();
      for (const row of rows) {
        const day = `${row.name} ${row.day}`;
        days.set(day, [...(days.get(day) ?? []), row]);
      }
      expect([...days.keys()].toSorted()).toEqual([
        'shanghai 2026-03-30',
        'shanghai 2026-03-31',
        'utc 2026-03-30',
        'utc 2026-03-31',
      ]);
      const limit = limitOf({ amount: 0.8 });
      for (const [day, own] of days) {
        const total = sum(own.map(({ cost }) => cost ?? 0n));
        const last = own.reduce(
          (most, row) => ((row.overshoot ?? 0n) > most ? row.overshoot! : most),
          0n,
        );
        // The first day of Shanghai may have ended before all of it was spent.
        const isSpent = total >= limit || day === 'shanghai 2026-03-30';
        expect([day, isSpent, total <= limit + last]).toEqual([day, true, true]);
      }
    },
  );

  test(
    'the leases of a node that sleeps too long are freed, and it spends nothing of them when it wakes up',
    { timeout: 90_000 },
    async () => {
      const [sleeper, other] = world.nodes as [World['nodes'][0], World['nodes'][0]];
      // Leases that are idle, and one that backs a request.
      const answers: Answer[] = await Promise.all(
        [0, 1, 2].map(() => ask(sleeper, idle, { fault: 'delay=100' })),
      );
      const late = Promise.all(
        [0, 1, 2, 3].map(() => ask(sleeper, underWay, { fault: `delay=${leaseAge}` })),
      );
      // What is not in the database yet is late when it comes.
      await applied(world);
      await wait(500);
      sleeper.freeze();
      const before = await Promise.all([ask(other, idle), ask(other, underWay)]);
      answers.push(...before);
      await wait(leaseAge);
      const freed = performance.now() + leaseAge;
      for (const account of slept) {
        let answer = await ask(other, account);
        while (answer.status === 503 && performance.now() < freed) {
          answers.push(answer);
          await wait(200);
          answer = await ask(other, account);
        }
        // To the last cent.
        for (; answer.status === 200; answer = await ask(other, account)) answers.push(answer);
        answers.push(answer);
        expect([account.name, answer.status]).toEqual([account.name, 402]);
      }
      sleeper.thaw();
      const woken = await Promise.all(slept.map((account) => ask(sleeper, account)));
      expect(woken.filter(({ status }) => status === 200)).toEqual([]);
      answers.push(...woken, ...(await late));
      await expectSpendable(world, slept, answers);
      await expectExact(
        world,
        [idle],
        answers.filter(({ account }) => account === idle.name),
      );
      // Requests that were under way end as they would have.
      const ofLate = await late;
      expect(ofLate.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    },
  );
});
