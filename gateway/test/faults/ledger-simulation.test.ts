import { describe, expect, test } from 'vitest';
import { dialects, isSkipped, openTestDatabase, type Dialect } from '../database/databases.ts';
import { runs } from '../support/runs.ts';
import {
  chargeOf,
  checkBooks,
  checkCharge,
  checkEnds,
  checkMeters,
  checkTheEnd,
  workOut,
} from './ledger-invariants.ts';
import { createRandom, createSimulation } from './ledger-simulation.ts';

/*
 * P-01 to P-09, P-11 and P-12 after every step, with the gateway's own billing, counting, settlement and books; the
 * upstream, the disk, the clock and the failures are dice. What the dice cannot show is shown elsewhere:
 * P-06 and P-07 of the running gateway: `kill.test.ts`, `../money/storm.test.ts`
 * P-10, usage in its normal form: `../property/usage-normal-form.test.ts`
 * P-11 of any prices, and P-13: `../property/cost.test.ts`
 * P-14, rates: `../limits/rates.test.ts`, `../limits/redis-nodes.test.ts`
 * P-15, Redis deleted: `../limits/redis-faults.test.ts`, `without-redis.test.ts`; here a crash deletes what was counted
 * P-16, whose ids are in a response: `../money/strangers.test.ts`
 */

const asked = process.env['SLUICE_SIMULATION_SECONDS'];
const seconds = Number(asked ?? Number.POSITIVE_INFINITY);
/** Without a time, the same steps in every run. */
const steps: Readonly<Record<Dialect, number>> =
  asked === undefined
    ? { sqlite: runs(1_000, 2_000), postgres: runs(500, 1_000) }
    : { sqlite: Number.POSITIVE_INFINITY, postgres: Number.POSITIVE_INFINITY };
const newSeed = asked === undefined ? 1 : Math.floor(Math.random() * 2 ** 32);
const seed = Number(process.env['SLUICE_SIMULATION_SEED'] ?? newSeed);
/** Working everything out again takes longer than the steps. */
const stepsPerReconcile = 200;

describe.each(dialects)('%s', (dialect) => {
  const length = asked === undefined ? `${steps[dialect]} steps` : `${seconds} s`;
  test.skipIf(isSkipped(dialect))(
    `P-01 to P-09, P-11 and P-12 hold after every step of ${length}, seed ${seed}`,
    { timeout: Number(asked ?? 60) * 1_000 + 60_000 },
    async () => {
      process.stdout.write(
        `the books on ${dialect} for ${length}: SLUICE_SIMULATION_SEED=${seed}\n`,
      );
      const { database, close } = await openTestDatabase(dialect);
      try {
        const simulation = await createSimulation(database, createRandom(seed));
        const { model, tasks, step, settle } = simulation;
        const end = performance.now() + seconds * 1_000;
        let count = 0;
        let checked = 0;
        const check = async () => {
          await checkBooks(database, model);
          await checkMeters(simulation);
          checkEnds(model);
          const fresh = [...model.durable.values()].slice(checked);
          for (const record of fresh) checkCharge(chargeOf(record), model);
          checked += fresh.length;
        };
        try {
          while (count < steps[dialect] && performance.now() < end) {
            await step();
            count += 1;
            await check();
            if (count % stepsPerReconcile === 0) await workOut(database, model);
          }
          await settle();
          await check();
          await workOut(database, model);
          await checkTheEnd(simulation);
        } catch (cause) {
          throw new Error(`after step ${count} of seed ${seed}: ${(cause as Error).message}`, {
            cause,
          });
        }
        expect(model.applied.size).toBeGreaterThan(10);
        expect(model.shown.size).toBeGreaterThan(10);
        expect(tasks.ended).toBeGreaterThan(10);
      } finally {
        await close();
      }
    },
  );
});
