import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Account } from './accounts.ts';
import { ask, type Answer } from './ask.ts';
import { openClockedWorld, type ClockedWorld } from './clocked-world.ts';
import { applied, expectExact, sum } from './exactness.ts';
import { cannotAttack } from './world.ts';

/*
 * One moment is midnight on the eastern and on the western side of the date line, and both nodes have leases of the day
 * that ends.
 */

const zones = [
  { name: 'kiritimati', zone: 'Pacific/Kiritimati', before: '2026-03-31', after: '2026-04-01' },
  { name: 'honolulu', zone: 'Pacific/Honolulu', before: '2026-03-30', after: '2026-03-31' },
] as const;
const midnight = '2026-03-31T10:00:00.000Z';
/** Milliseconds of both clocks. */
const begin = 4_000;
/** The clock of the second node is late. */
const late = [0, 500] as const;
const account = ({ name, zone }: (typeof zones)[number]): Account => {
  return { name, limit: 'daily', amount: 5, zone };
};

describe.skipIf(cannotAttack)('two nodes that lease money of a day', () => {
  let world: ClockedWorld;
  beforeAll(async () => {
    world = await openClockedWorld({
      // What is idle goes back after ten seconds.
      settings: 'limits: { lease_reserve: 0s }',
      accounts: zones.map(account),
      late,
      time: '2026-03-31T09:00:00Z',
    });
  }, 120_000);
  afterAll(() => world.close());

  const rowsOf = (name: string) =>
    world.database.kysely
      .selectFrom('usage')
      .innerJoin('keys', 'keys.id', 'usage.key_id')
      .select(['usage.id', 'usage.budget_window as day', 'usage.cost'])
      .where('keys.name', '=', name)
      .where('usage.cost', 'is not', null)
      .execute();

  /** Of the team's day, in the database. */
  const meterOf = async (name: string, day: string) => {
    const { id } = await world.database.kysely
      .selectFrom('teams')
      .select('id')
      .where('name', '=', name)
      .executeTakeFirstOrThrow();
    return world.database.kysely
      .selectFrom('spent_totals')
      .select(['spent', 'leased'])
      .where('meter', '=', `team:${id}:daily:${day}`)
      .executeTakeFirstOrThrow();
  };

  test(
    'B-19 a hold stays in the day in which it was admitted, and idle money of that day goes back',
    { timeout: 90_000 },
    async () => {
      const both = world.nodes.flatMap((node) =>
        zones.map((zone) => [node, account(zone)] as const),
      );
      const answers: Answer[] = [];
      world.stepTo(new Date(Date.parse(midnight) - begin).toISOString());
      const started = performance.now();
      const asked = world.place.simulator.requests().length;
      answers.push(...(await Promise.all(both.map((pair) => ask(...pair)))));
      const slow = Promise.all(both.map((pair) => ask(...pair, { fault: 'delay=6000' })));
      await expect
        .poll(() => world.place.simulator.requests().length, { interval: 20 })
        .toBe(asked + 2 * both.length);
      for (const { name, before } of zones) {
        expect((await meterOf(name, before)).leased).toBeGreaterThan(0n);
      }
      await wait(begin + late[1] + 100 - (performance.now() - started));
      const next = await Promise.all(both.map((pair) => ask(...pair)));
      const over = await slow;
      expect([...next, ...over].map(({ status }) => status)).toEqual(
        Array.from({ length: 2 * both.length }, () => 200),
      );
      const before = new Set([...answers, ...over].map(({ id }) => id));
      answers.push(...next, ...over);
      await applied(world);
      for (const { name, before: oldDay, after: newDay } of zones) {
        const rows = await rowsOf(name);
        expect(rows).toHaveLength(answers.length / zones.length);
        for (const { id, day } of rows) expect(day).toBe(before.has(id) ? oldDay : newDay);
        for (const day of [oldDay, newDay]) {
          const { spent } = await meterOf(name, day);
          const own = rows.filter((row) => row.day === day);
          expect(spent).toBe(sum(own.map(({ cost }) => cost ?? 0n)));
        }
        // Nobody asks for it any more.
        await expect
          .poll(async () => (await meterOf(name, oldDay)).leased, {
            timeout: 30_000,
            interval: 250,
          })
          .toBe(0n);
      }
      await expectExact(world, zones.map(account), answers);
    },
  );
});
