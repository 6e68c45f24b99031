import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeyDirectory, upsertKey, upsertUser } from '#identity/index.ts';
import { createDatabaseBreaker } from '#database/index.ts';
import { runs } from '../support/runs.ts';
import { countQueries } from './count-queries.ts';
import {
  change,
  dialects,
  isSkipped,
  openTestDatabase,
  testSecrets,
  watchByHand,
} from './databases.ts';
import { key, user } from './samples.ts';

/* S-43: a storm of invented keys costs the database little and takes bounded memory. */

const storm = runs(30_000, 100_000);
/** As many as may wait for the database at once. */
const burst = 10_000;

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('a storm of invented keys', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    const queries = countQueries();
    beforeAll(async () => {
      opened = await openTestDatabase(dialect);
    });
    afterAll(() => opened.close());

    it('queries the database once for 500 of them, and not again within 10 s', async () => {
      const database = { ...opened.database, kysely: opened.database.kysely.withPlugin(queries) };
      await change(database, async (file) => {
        await upsertUser(file, user);
        await upsertKey(file, key);
      });
      const watch = watchByHand(database);
      let now = 5_000;
      const directory = createKeyDirectory({
        breaker: createDatabaseBreaker(),
        database,
        secrets: testSecrets,
        watch,
        now: () => now,
      });
      await directory.load();
      const made = Array.from(
        { length: storm },
        () => `sk-${randomBytes(33).toString('base64url')}`,
      );
      queries.reset();
      global.gc?.();
      const before = process.memoryUsage().heapUsed;
      for (let at = 0; at < storm; at += burst) {
        const found = await Promise.all(
          made.slice(at, at + burst).map(async (secret) => directory.find(secret)),
        );
        expect(found.every((caller) => caller === null)).toBe(true);
      }
      // Each query takes what has come meanwhile, at most 500; a few are less than full.
      expect(queries.count).toBeLessThanOrEqual((storm / 500) * 1.25);
      expect(directory.size).toBe(1);

      queries.reset();
      now += 9_000;
      for (const secret of made) expect(directory.find(secret)).toBeNull();
      expect(queries.count).toBe(0);
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 2 ** 20);
      // A caller with a valid key is served meanwhile, from memory.
      expect(directory.find(key.secret ?? '')).toMatchObject({ keyName: 'ci' });
    }, 60_000);
  });
});
