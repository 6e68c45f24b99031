import { describe, expect, test } from 'vitest';
import type { OpenDatabase } from '#database/index.ts';
import { canStartRedis } from '../limits/private-redis.ts';
import { isSkipped } from '../database/databases.ts';
import { secret } from '../workers/workplace.ts';
import { runClients } from './load.ts';
import { kills, nodeNames, startNodes, stopAndReconcile } from './nodes.ts';
import { allRows, reconcileLogs, type ClientLog } from './reconcile.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom();

/** Of each node. The simulator remembers only so many requests. */
const clients = kills > 20 ? 1 : 4;

const totalCost = async ({ kysely }: OpenDatabase): Promise<bigint> => {
  const rows = await kysely.selectFrom('usage').select('cost').execute();
  return rows.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n);
};

describe.skipIf(!canStartRedis || isSkipped('postgres'))('three nodes', () => {
  test(
    `R-26 one node is killed ${kills} times under load and comes back: the books are exact`,
    { timeout: 60_000 + kills * 20_000 },
    async () => {
      const nodes = await startNodes();
      const { place, processes, database } = nodes;
      const urls = [...nodes.urls];
      const seen: ClientLog[] = [];
      let completions = 0;
      const onCompleted = () => void (completions += 1);
      const moreCompleted = async (count: number) => {
        const before = completions;
        await expect.poll(() => completions).toBeGreaterThan(before + count);
      };
      for (let loop = 0; loop < kills; loop += 1) {
        const victim = loop % nodeNames.length;
        let wanted = true;
        const load = urls.map((url) =>
          runClients({ url, key: secret, random, onCompleted, wanted: () => wanted }, clients),
        );
        await moreCompleted(40);
        processes[victim]!.child.kill('SIGKILL');
        // The others continue meanwhile.
        await moreCompleted(10);
        processes[victim] = place.start(nodeNames[victim]);
        urls[victim] = await processes[victim].url;
        wanted = false;
        seen.push(...(await Promise.all(load)).flat());
      }
      await stopAndReconcile(nodes);
      // A killed request may have no row, or a row whose response nobody saw complete.
      const completed = seen.filter((response) => response.completed);
      expect(completed.length).toBeGreaterThan(kills * 20);
      const rows = await allRows(database);
      expect(reconcileLogs(completed, rows, place.simulator.requests())).toEqual([]);
      expect(await totalCost(database)).toBeGreaterThan(0n);
      // The node that came back is the one that went.
      expect(await database.kysely.selectFrom('nodes').selectAll().execute()).toEqual([]);
    },
  );
});
