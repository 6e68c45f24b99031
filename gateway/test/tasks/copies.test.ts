import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { copyRules, createCopier, type Copier } from '#results/copier.ts';
import { insertResult } from '#results/results.repository.ts';
import { createFolderStorage, type ResultStorage } from '#results/storage.ts';
import { FetchRefused, type GuardedFetch, type MediaOrder } from '#upstream/index.ts';
import { dialects, isSkipped, testSecrets } from '../database/databases.ts';
import { looksLike } from './fake-vendor.ts';
import { openTasksBench, type TasksBench } from './tasks-bench.ts';

/* The copies of results: whoever is killed, one node at a time. */

const twoFiles = {
  content: { video_url: 'https://v.test/a.mp4', last_frame_url: 'https://v.test/b.png' },
};
const bytes = Buffer.from('a video');

for (const dialect of dialects)
  describe.skipIf(isSkipped(dialect))(`tasks on ${dialect}`, () => {
    let bench: TasksBench;
    let folder: string;
    beforeAll(async () => {
      bench = await openTasksBench(dialect);
    });
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'sluice-copies-'));
      await bench.renew();
      await bench.database.kysely.deleteFrom('task_results').execute();
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    });
    afterAll(() => bench.close());

    interface Node {
      readonly copier: Copier;
      readonly orders: MediaOrder[];
      readonly tally: { copied: number; failed: number };
      readonly warnings: string[];
      turn(): Promise<number>;
    }

    /** A process. @param fetch what its downloads do */
    function node(
      name: string,
      fetch: (order: MediaOrder) => Promise<Buffer> = async () => bytes,
      storage: ResultStorage = createFolderStorage(folder),
    ): Node {
      const orders: MediaOrder[] = [];
      const warnings: string[] = [];
      const tally = { copied: 0, failed: 0 };
      const fetchMedia: GuardedFetch = async (order, read) => {
        orders.push(order);
        const body = await fetch(order);
        const mime = order.url.endsWith('png') ? 'image/png' : 'video/mp4';
        return read({ mime, length: body.length, pieces: piecesOf(body) });
      };
      const copier = createCopier({
        database: bench.database,
        owner: name,
        secrets: testSecrets,
        clock: { now: () => bench.clock.wall },
        log: { warn: (message) => void warnings.push(message) },
        snapshot: () => ({ channels: [] }),
        storage,
        fetchMedia,
        tally,
      });
      onTestFinished(() => copier.close());
      return {
        copier,
        orders,
        tally,
        warnings,
        async turn() {
          const { claimed, done } = await copier.turn();
          await done;
          return claimed;
        },
      };
    }

    async function* piecesOf(body: Buffer): AsyncGenerator<Buffer> {
      yield body.subarray(0, 3);
      yield body.subarray(3);
    }

    const untilStopped = ({ signal }: MediaOrder): Promise<Buffer> =>
      new Promise((_, reject) =>
        signal!.addEventListener('abort', () => reject(signal!.reason as Error)),
      );

    /** A task that has just succeeded, and is to be copied. */
    async function succeededTask(id: string): Promise<void> {
      const engine = bench.node('node_a');
      await engine.submit(id);
      bench.fake.tasks.set(
        `up-${id}`,
        looksLike('succeeded', {
          usage: { quantity: 5_000, isImplausible: false },
          members: twoFiles,
        }),
      );
      bench.pass(10_000);
      await engine.turn();
      const { kysely } = bench.database;
      await kysely.transaction().execute((trx) => insertResult(trx, id, bench.clock.wall));
    }

    const rowsOf = () => bench.database.kysely.selectFrom('task_results').selectAll().execute();
    const endLeases = () =>
      bench.database.kysely.updateTable('task_results').set({ lease_until: 0 }).execute();

    test('all files are copied, and removed a day later', async () => {
      await succeededTask('t1');
      const { turn, tally, orders } = node('node_a');
      expect(await turn()).toBe(1);
      expect(readFileSync(join(folder, 't1', 'video.mp4'))).toEqual(bytes);
      expect(readFileSync(join(folder, 't1', 'last_frame.png'))).toEqual(bytes);
      expect(tally).toEqual({ copied: 1, failed: 0 });
      const ofUpstream = { isUnrestricted: true, ownOrigin: 'https://upstream.test' };
      expect(orders).toMatchObject([ofUpstream, ofUpstream]);
      const [row] = await rowsOf();
      expect(row?.expires_at).toBe(bench.clock.wall + copyRules.keepFor);
      bench.pass(copyRules.keepFor);
      expect(await turn()).toBe(0);
      bench.pass(copyRules.afterwards);
      expect(await turn()).toBe(1);
      expect(existsSync(join(folder, 't1'))).toBe(false);
      expect(await rowsOf()).toEqual([]);
    });

    test('what fails is tried again, later and later; what is copied stays', async () => {
      await succeededTask('t1');
      let isDown = true;
      const { turn, orders, tally, warnings } = node('node_a', async ({ url }) => {
        if (isDown && url.endsWith('png')) throw new FetchRefused('its host cannot be reached');
        return bytes;
      });
      await turn();
      expect(await turn()).toBe(0);
      bench.pass(copyRules.pause);
      expect(await turn()).toBe(1);
      bench.pass(copyRules.pause);
      expect(await turn()).toBe(0);
      bench.pass(copyRules.pause);
      isDown = false;
      expect(await turn()).toBe(1);
      expect(orders.map(({ url }) => url.at(-1))).toEqual(['4', 'g', 'g', 'g']);
      expect(tally).toEqual({ copied: 1, failed: 0 });
      expect(warnings).toHaveLength(2);
    });

    test('after a day it is given up, and nothing is left of it', async () => {
      await succeededTask('t1');
      const { turn, tally } = node('node_a', async ({ url }) => {
        if (url.endsWith('png')) throw new FetchRefused('its host did not return it');
        return bytes;
      });
      await turn();
      expect(existsSync(join(folder, 't1', 'video.mp4'))).toBe(true);
      bench.pass(copyRules.giveUpAfter);
      await turn();
      expect(tally).toEqual({ copied: 0, failed: 1 });
      expect(readdirSync(folder)).toEqual([]);
      expect(await rowsOf()).toEqual([]);
    });

    test('one node copies; when its lease has ended another one does, and only one of them is believed', async () => {
      await succeededTask('t1');
      const held = Promise.withResolvers<Buffer>();
      const first = node('node_a', () => held.promise);
      const begun = await first.copier.turn();
      expect(begun.claimed).toBe(1);
      const second = node('node_b');
      expect(await second.turn()).toBe(0);
      await endLeases();
      expect(await second.turn()).toBe(1);
      held.resolve(Buffer.from('a video'));
      await begun.done;
      expect([first.tally.copied, second.tally.copied]).toEqual([0, 1]);
      expect(readdirSync(join(folder, 't1')).toSorted()).toEqual(['last_frame.png', 'video.mp4']);
      const [row] = await rowsOf();
      expect(row?.lease_owner).toBe(null);
    });

    test('what a killed process had begun is taken up by its next one at once', async () => {
      await succeededTask('t1');
      const killed = node('node_a', untilStopped);
      await killed.copier.turn();
      const next = node('node_a');
      expect(await next.turn()).toBe(1);
      expect(next.tally.copied).toBe(1);
    });

    test('a stop gives the copy back and leaves no half file', async () => {
      await succeededTask('t1');
      let begun = false;
      const stopped = node('node_a', (order) => {
        begun = true;
        return untilStopped(order);
      });
      const { done } = await stopped.copier.turn();
      await expect.poll(() => begun).toBe(true);
      await stopped.copier.close();
      await done;
      expect(await node('node_b').turn()).toBe(1);
    });

    test('a download that breaks leaves no half file', async () => {
      const storage = createFolderStorage(folder);
      async function* broken(): AsyncGenerator<Buffer> {
        yield bytes;
        await sleep(1);
        throw new FetchRefused('its host cannot be reached');
      }
      const file = { pieces: broken(), length: null, type: 'video/mp4' };
      await expect(storage.write('t1', 'video.mp4', file)).rejects.toThrow('cannot be reached');
      expect(readdirSync(join(folder, 't1'))).toEqual([]);
      expect(await storage.size('t1', 'video.mp4')).toBe(null);
    });
  });
