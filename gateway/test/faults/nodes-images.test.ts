import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { isSkipped } from '../database/databases.ts';
import { canStartRedis } from '../limits/private-redis.ts';
import { drawAt, type Drawn } from '../support/draw.ts';
import { secret } from '../workers/workplace.ts';
import { key, knowEachOther, loops, startNodes, stopAndReconcile } from './nodes.ts';

/* Pictures on PostgreSQL and Redis, made by two nodes. */

const two = ['a', 'b'] as const;
/** Nano-USD of one large picture, which is also what is held for it. */
const large = 80_000_000n;
const small = 40_000_000n;

describe.skipIf(!canStartRedis || isSkipped('postgres'))('pictures of two nodes', () => {
  test(
    'of parallel requests with room for one picture, one is admitted',
    { timeout: 120_000 },
    async () => {
      const names = Array.from({ length: 6 }, (_, at) => `poor${at}`);
      const nodes = await startNodes(
        [
          'users:',
          ...names.map((name) => `  - { email: ${name}@example.com, balance: 0.08 }`),
          'keys:',
          ...names.map(
            (name) => `  - { name: ${name}, user: ${name}@example.com, secret: ${key(name)} }`,
          ),
          '',
        ].join('\n'),
        two,
      );
      const { urls, database, place } = nodes;
      await knowEachOther(urls);
      const rowsOf = (ids: readonly string[]) =>
        database.kysely
          .selectFrom('usage')
          .select(['id', 'held', 'cost'])
          .where('id', 'in', ids)
          .execute();
      let asOne = 0;
      for (const name of names) {
        // Long enough that all have come before the first is settled.
        const options = { key: key(name), size: '2048x2048', fault: 'delay=1500' };
        const drawn = await Promise.all(
          Array.from({ length: 12 }, (_, at) => drawAt(urls[at % urls.length]!, options)),
        );
        const admitted = drawn.filter((each) => each?.status === 200);
        const refused = drawn.filter((each) => each?.status !== 200);
        // On a busy machine a node may not say in time whether it has idle money, but not each time.
        const certain = refused.filter((each) => each?.status !== 503);
        expect(certain.map((each) => each?.status)).toEqual(certain.map(() => 402));
        const ids = admitted.map((each) => String(each?.id));
        await expect.poll(async () => (await rowsOf(ids)).length).toBe(ids.length);
        const rows = await rowsOf(ids);
        expect(rows.map(({ cost }) => cost)).toEqual(ids.map(() => large));
        // The first may be settled before the last has come, which is given the rest.
        if (rows.some(({ held }) => held !== large)) continue;
        expect([name, ids.length]).toEqual([name, 1]);
        if (certain.length === refused.length) asOne += 1;
      }
      expect(asOne).toBeGreaterThan(names.length / 2);
      await stopAndReconcile(nodes);
      // What was refused reached no upstream.
      const rows = await database.kysely
        .selectFrom('usage')
        .select('id')
        .where('cost', 'is not', null)
        .execute();
      expect(place.simulator.requests()).toHaveLength(rows.length);
    },
  );

  test(
    `R-26 ${loops} kills of a node while pictures are made: every picture that was seen has one row and one charge`,
    { timeout: 60_000 + loops * 20_000 },
    async () => {
      const nodes = await startNodes(undefined, two);
      const { place, processes, database } = nodes;
      const urls = [...nodes.urls];
      const seen: Drawn[] = [];
      for (let loop = 0; loop < loops; loop += 1) {
        const victim = loop % two.length;
        const before = seen.length;
        const state = { isOver: false };
        const load = Array.from({ length: 8 }, async (_, client) => {
          for (let at = 0; !state.isOver; at += 1) {
            const drawn = await drawAt(urls[client % two.length]!, {
              key: secret,
              size: '256x256',
              fault: 'delay=150;picture-bytes=400000',
              ...(at % 2 === 0 && { edited: client * 1_000 + at }),
            });
            if (drawn !== null) seen.push(drawn);
            else await wait(50);
          }
        });
        // The other node continues meanwhile.
        await expect.poll(() => seen.length).toBeGreaterThan(before + 16);
        processes[victim]!.child.kill('SIGKILL');
        const killedAt = seen.length;
        await expect.poll(() => seen.length).toBeGreaterThan(killedAt + 4);
        processes[victim] = place.start(two[victim]);
        urls[victim] = await processes[victim].url;
        state.isOver = true;
        await Promise.all(load);
      }
      await stopAndReconcile(nodes);
      const rows = await database.kysely.selectFrom('usage').select(['id', 'cost']).execute();
      const charged = new Map(rows.map(({ id, cost }) => [id, cost]));
      expect(charged.size).toBe(rows.length);
      const whole = seen.filter(({ isWhole }) => isWhole).map(({ id }) => String(id));
      expect(whole.length).toBeGreaterThan(loops * 10);
      expect(new Set(whole).size).toBe(whole.length);
      expect(whole.filter((id) => charged.get(id) !== small)).toEqual([]);
      // Nothing is charged that no upstream made.
      const paid = rows.filter(({ cost }) => cost !== null && cost > 0n);
      expect(paid.length).toBeLessThanOrEqual(place.simulator.requests().length);
      for (const node of two) {
        const spool = join(place.folder, node, 'data/spool');
        expect(existsSync(spool) ? readdirSync(spool) : []).toEqual([]);
      }
    },
  );
});
