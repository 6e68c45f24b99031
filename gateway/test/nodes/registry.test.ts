import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createNodeRegistry, nodeRules, readNodeId, type NodeRegistry } from '#nodes/index.ts';
import { dialects, isSkipped, openTestDatabase } from '../database/databases.ts';

const beatEvery = 20;

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('node registry', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let time = 1_000_000;
    beforeEach(async () => {
      opened = await openTestDatabase(dialect);
    });
    afterEach(() => opened.close());

    let started = 0;
    const join = async (id: string, journal = { depth: 0 }, warnings: unknown[] = []) => {
      started += 1;
      const startedAt = started;
      const node = createNodeRegistry({
        now: () => startedAt,
        database: opened.database,
        id,
        log: { info: () => {}, warn: (_message, fields) => void warnings.push(fields) },
        monotonic: () => time,
        beatEvery,
      });
      await node.join(journal);
      onTestFinished(() => node.close());
      return node;
    };
    const silence = (id: string, milliseconds: number) =>
      sql`update nodes set seen_at = seen_at - ${milliseconds} where id = ${id}`.execute(
        opened.database.kysely,
      );
    /** A node that was killed: nobody beats for it any more. */
    const addKilled = async (id: string, silentFor: number, depth: number) => {
      await opened.database.kysely
        .insertInto('nodes')
        .values({ id, started_at: 1, seen_at: Date.now() - silentFor, journal_depth: depth })
        .execute();
    };
    const names = async () => {
      const rows = await opened.database.kysely
        .selectFrom('nodes')
        .select('id')
        .orderBy('id')
        .execute();
      return rows.map(({ id }) => id);
    };
    /** Until this node has sent `count` more heartbeats. */
    const beats = async (id: string, count: number) => {
      const seen = async () => {
        const row = await opened.database.kysely
          .selectFrom('nodes')
          .select('seen_at')
          .where('id', '=', id)
          .executeTakeFirst();
        return row?.seen_at;
      };
      for (let beat = 0; beat < count; beat += 1) {
        const before = await seen();
        await expect.poll(seen, { interval: 5 }).not.toEqual(before);
      }
    };
    const settles = (read: () => unknown, expected: unknown) =>
      expect.poll(read, { interval: 10 }).toEqual(expected);

    it('knows how many nodes are live, from the first moment and after each sign-off', async () => {
      const first = await join('node_a');
      expect(first.live()).toBe(1);
      const second = await join('node_b');
      expect(second.live()).toBe(2);
      await settles(() => first.live(), 2);
      await second.close();
      expect(await names()).toEqual(['node_a']);
      await settles(() => first.live(), 1);
    });

    it('drops a node after 30 s of silence', async () => {
      await addKilled('node_dead', nodeRules.goneAfter - 2_000, 0);
      const node = await join('node_a');
      expect(node.live()).toBe(2);
      await silence('node_dead', 2_000);
      await settles(() => node.live(), 1);
      expect(node.missing).toEqual([]);
    });

    it('is the same node when it starts again', async () => {
      await addKilled('node_a', 1_000, 7);
      const node = await join('node_a');
      expect(node.live()).toBe(1);
      expect(await names()).toEqual(['node_a']);
    });

    it('reports a twin: its data folder is a copy', async () => {
      const warnings: unknown[] = [];
      const original = await join('node_a', { depth: 0 }, warnings);
      const copy = await join('node_a');
      await settles(() => [original.live(), copy.live()], [2, 2]);
      expect(warnings).toEqual([{ component: 'nodes', detail: 'node_a' }]);
      await copy.close();
      await settles(() => original.live(), 1);
      expect(warnings).toHaveLength(1);
    });

    it('reports a node that left records once, until it is back', async () => {
      const warnings: unknown[] = [];
      await addKilled('node_dead', nodeRules.goneAfter + 1, 12);
      const node = await join('node_a', { depth: 0 }, warnings);
      expect(node.missing).toEqual([{ id: 'node_dead', journalDepth: 12 }]);
      await new Promise((resolve) => setTimeout(resolve, 5 * beatEvery));
      expect(warnings).toEqual([{ component: 'nodes', detail: 'node_dead', count: 12 }]);
      const back = await join('node_dead');
      await settles(() => node.missing, []);
      expect(back.live()).toBe(2);
    });

    it('keeps its depth when its journal could not be emptied', async () => {
      const journal = { depth: 0 };
      const node = await join('node_a', journal);
      journal.depth = 3;
      await node.close();
      const row = await opened.database.kysely
        .selectFrom('nodes')
        .selectAll()
        .executeTakeFirstOrThrow();
      expect(row).toMatchObject({ id: 'node_a', journal_depth: 3 });
    });

    it('forgets dead nodes after a day, with records after a week', async () => {
      const warnings: unknown[] = [];
      const day = 86_400_000;
      await addKilled('node_day', day + 1_000, 0);
      await addKilled('node_hour', day / 24, 0);
      await addKilled('node_records', 6 * day, 5);
      await addKilled('node_week', 7 * day + 1_000, 5);
      await join('node_a', { depth: 0 }, warnings);
      expect(await names()).toEqual(['node_a', 'node_hour', 'node_records']);
      expect(warnings).toContainEqual({ component: 'nodes', detail: 'node_week', count: 5 });
    });

    it('keeps the last known number while the database is unreachable', async () => {
      await addKilled('node_b', 0, 4);
      await addKilled('node_c', 0, 4);
      const node = await join('node_a');
      expect(node.live()).toBe(3);
      await sql`alter table nodes rename to away`.execute(opened.database.kysely);
      await new Promise((resolve) => setTimeout(resolve, 5 * beatEvery));
      expect(node.live()).toBe(3);
    });

    it('does not drop others while the database could not take their heartbeats', async () => {
      await addKilled('node_b', 0, 4);
      const node = await join('node_a');
      expect(node.live()).toBe(2);
      await sql`alter table nodes rename to away`.execute(opened.database.kysely);
      await new Promise((resolve) => setTimeout(resolve, 3 * beatEvery));
      time += nodeRules.goneAfter;
      await sql`alter table away rename to nodes`.execute(opened.database.kysely);
      await silence('node_b', nodeRules.goneAfter);
      await beats('node_a', 3);
      expect([node.live(), node.missing]).toEqual([2, []]);
      // In steps: a gap as long as this would be one more outage.
      time += nodeRules.goneAfter / 2;
      await beats('node_a', 3);
      time += nodeRules.goneAfter / 2;
      await settles(() => [node.live(), node.missing], [1, [{ id: 'node_b', journalDepth: 4 }]]);
    });
  });
});

describe('a database that is unreachable from the start', () => {
  it('leaves one node, which starts anyway', async () => {
    const opened = await openTestDatabase('sqlite');
    await opened.close();
    const node: NodeRegistry = createNodeRegistry({
      database: opened.database,
      id: 'node_a',
      log: { info: () => {}, warn: () => {} },
    });
    await node.join({ depth: 0 });
    expect(node.live()).toBe(1);
    await node.close();
  });
});

it('a folder keeps its id; a truncated one gets another', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-node-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const id = readNodeId(folder);
  expect(id).toMatch(/^node_[0-9a-f]{24}$/);
  expect(readNodeId(folder)).toBe(id);
  writeFileSync(join(folder, 'node.id'), id.slice(0, 9));
  const renewed = readNodeId(folder);
  expect(renewed).toMatch(/^node_[0-9a-f]{24}$/);
  expect(readNodeId(folder)).toBe(renewed);
});
