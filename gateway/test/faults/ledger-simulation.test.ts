import { describe, expect, test } from 'vitest';
import { reconcile, type Difference } from '../../src/ledger/index.ts';
import { dialects, isSkipped, openTestDatabase } from '../database/databases.ts';
import { createRandom, createSimulation, readSums, sumsOf } from './ledger-simulation.ts';

const seconds = Number(process.env['SLUICE_SIMULATION_SECONDS'] ?? '5');
const seed = Number(process.env['SLUICE_SIMULATION_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
/** Working everything out again takes longer than the steps. */
const stepsPerReconcile = 200;
const internal = new Set(['revenue', 'funding', 'operator-loss']);

describe.each(dialects)('%s', (dialect) => {
  test.skipIf(isSkipped(dialect))(
    `P-01 P-03 P-09 hold after every step of ${seconds} s, seed ${seed}`,
    { timeout: seconds * 1_000 + 60_000 },
    async () => {
      const { database, close } = await openTestDatabase(dialect);
      try {
        const { model, step, settle } = await createSimulation(database, createRandom(seed));
        const end = performance.now() + seconds * 1_000;
        let count = 0;
        const check = async () => {
          const { balances, ...sums } = await readSums(database);
          const holders = [...balances].filter(([account]) => !internal.has(account));
          expect({ ...sums, balances: new Map(holders) }, `step ${count}`).toEqual(sumsOf(model));
          expect(balances.values().reduce((sum, amount) => sum + amount, 0n)).toBe(0n);
          expect(balances.get('revenue') ?? 0n).toBe(sums.cost);
        };
        const workOut = async () => {
          const differences: Difference[] = [];
          await reconcile(database, {}, (difference) => differences.push(difference));
          expect(differences, `step ${count}`).toEqual([]);
        };
        while (performance.now() < end) {
          await step();
          count += 1;
          await check();
          if (count % stepsPerReconcile === 0) await workOut();
        }
        await settle();
        await check();
        await workOut();
        expect(model.applied.size).toBeGreaterThan(10);
      } finally {
        await close();
      }
    },
  );
});
