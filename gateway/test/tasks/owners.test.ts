import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { NewTask } from '#tasks/index.ts';
import { dialects, isSkipped } from '../database/databases.ts';
import { looksLike, succeeded } from './fake-vendor.ts';
import {
  openTasksBench,
  owner,
  rowOf,
  rules,
  sumsOf,
  usageOf,
  type BenchNode,
  type TasksBench,
} from './tasks-bench.ts';

const everything = { pageNumber: 1, pageSize: 10, states: null, model: null, ids: null };
const caller = (userId: string) =>
  ({ keyId: 'key_2', userId, teamId: null, group: 'default' }) as NewTask['caller'];

describe.each(dialects)('owners of tasks on %s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('ask so that', () => {
    let bench: TasksBench;
    let node: BenchNode;
    beforeAll(async () => {
      bench = await openTasksBench(dialect, { looksPerSecond: 10 });
    });
    afterAll(() => bench.close());
    beforeEach(async () => {
      await bench.renew();
      node = bench.node('node_1');
    });

    test('a task is looked at first, unless it was a moment ago', async () => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', looksLike('running', { members: { seen: 1 } }));
      bench.pass(5_000);
      expect(await node.tasks.find(owner, 'a')).toMatchObject({ state: 'queued', members: {} });
      bench.pass(1);
      expect(await node.tasks.find(owner, 'a')).toMatchObject({
        state: 'running',
        members: { seen: 1 },
        createdAt: bench.clock.wall - 5_001,
        updatedAt: bench.clock.wall,
        endedAt: null,
      });
      bench.pass(5_000);
      await node.tasks.find(owner, 'a');
      expect(bench.fake.calls).toHaveLength(1);
    });

    test('a success that the owner sees first is charged once', async () => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', succeeded(5_000));
      bench.pass(5_001);
      expect(await node.tasks.find(owner, 'a')).toMatchObject({
        state: 'succeeded',
        quantity: 5_000,
        endedAt: bench.clock.wall,
        members: { video_url: 'https://video.test/1.mp4' },
      });
      expect(await sumsOf(bench.database)).toEqual({ spent: 500_000_000n, held: 0n });
      bench.pass(rules.pollInterval);
      expect(await node.turn()).toBe(0);
    });

    test('of many at once one look is made, and nobody looks at what has ended', async () => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', succeeded(5_000));
      bench.pass(5_001);
      const found = await Promise.all(
        Array.from({ length: 20 }, () => node.tasks.find(owner, 'a')),
      );
      expect(new Set(found.map((task) => task?.state))).toEqual(new Set(['succeeded']));
      expect(bench.fake.calls).toHaveLength(1);
      expect(await usageOf(bench.database)).toHaveLength(1);
      bench.pass(60_000);
      await node.tasks.find(owner, 'a');
      expect(bench.fake.calls).toHaveLength(1);
    });

    test('what another node looks at is answered from the row', async () => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', looksLike('running'));
      bench.pass(rules.pollInterval);
      bench.fake.mood = 'mute';
      await bench.node('node_2').engine.turn();
      expect(await node.tasks.find(owner, 'a')).toMatchObject({ state: 'queued' });
      expect(bench.fake.calls).toHaveLength(1);
    });

    test('a look keeps to the pace of the channel', async () => {
      const ids = Array.from({ length: 12 }, (_, at) => `t${at}`);
      for (const id of ids) await node.submit(id);
      for (const id of ids) bench.fake.tasks.set(`up-${id}`, looksLike('running'));
      bench.pass(5_001);
      // Ten a second, and nobody waits for more than half a second.
      const found = await Promise.all(ids.map((id) => node.tasks.find(owner, id)));
      expect(found.filter((task) => task?.state === 'running')).toHaveLength(6);
      expect(bench.fake.calls).toHaveLength(6);
      expect((await rowOf(bench.database, 't11')).lease_owner).toBeNull();
    });

    test('a failed look is answered with what is known', async () => {
      await node.submit('a');
      bench.fake.mood = { status: 500 };
      bench.pass(5_001);
      expect(await node.tasks.find(owner, 'a')).toMatchObject({ state: 'queued' });
      expect(await rowOf(bench.database, 'a')).toMatchObject({ failed_looks: 1 });
    });

    test('a task past its time has expired when its owner asks, after one last look', async () => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', looksLike('running'));
      bench.pass(rules.expireAfter - 1_000);
      await node.tasks.find(owner, 'a');
      bench.pass(1_000);
      expect(await node.tasks.find(owner, 'a')).toMatchObject({
        state: 'expired',
        failure: { kind: 'expired', code: null },
      });
      expect(bench.fake.calls).toHaveLength(2);
    });

    test('nobody else finds, lists or removes a task, whatever key he has', async () => {
      await node.submit('a');
      await node.submit('theirs', { caller: caller('usr_2') });
      const stranger = { ...owner, userId: 'usr_2' };
      const otherDialect = { ...owner, protocol: 'video-contents' as const };
      for (const other of [stranger, otherDialect]) {
        expect(await node.tasks.find(other, 'a')).toBeNull();
        expect(await node.tasks.remove(other, 'a')).toBeNull();
      }
      const listed = async (who: typeof stranger) =>
        (await node.tasks.list(who, everything)).tasks.map(({ id }) => id);
      expect(await listed(owner)).toEqual(['a']);
      expect(await listed(stranger)).toEqual(['theirs']);
      expect((await rowOf(bench.database, 'a')).state).toBe('queued');
    });

    test('another key of the same user finds the task', async () => {
      await node.submit('a', { caller: caller(owner.userId) });
      expect(await node.tasks.find(owner, 'a')).toMatchObject({ id: 'a' });
    });

    test('a task that no upstream has accepted is not shown', async () => {
      await node.begin('a');
      expect(await node.tasks.find(owner, 'a')).toBeNull();
      expect(await node.tasks.list(owner, everything)).toEqual({ total: 0, tasks: [] });
      expect(await node.tasks.remove(owner, 'a')).toBeNull();
    });

    test('a list has the newest first, in pages, by state, model and id', async () => {
      for (const id of ['a', 'b', 'c', 'd']) {
        await node.submit(id, id === 'c' ? { model: 'other' } : {});
        bench.pass(1_000);
      }
      bench.fake.tasks.set('up-b', succeeded(5_000));
      bench.pass(rules.pollInterval);
      await node.turn();
      const listed = async (query: Partial<typeof everything> | object) => {
        const { total, tasks } = await node.tasks.list(owner, { ...everything, ...query });
        return [total, ...tasks.map(({ id }) => id)];
      };
      expect(await listed({})).toEqual([4, 'd', 'c', 'b', 'a']);
      expect(await listed({ pageSize: 2 })).toEqual([4, 'd', 'c']);
      expect(await listed({ pageSize: 2, pageNumber: 2 })).toEqual([4, 'b', 'a']);
      expect(await listed({ pageSize: 2, pageNumber: 3 })).toEqual([4]);
      expect(await listed({ states: ['succeeded'] })).toEqual([1, 'b']);
      expect(await listed({ states: ['queued', 'running'] })).toEqual([3, 'd', 'c', 'a']);
      expect(await listed({ states: [] })).toEqual([0]);
      expect(await listed({ model: 'other' })).toEqual([1, 'c']);
      expect(await listed({ ids: ['a', 'd', 'none'] })).toEqual([2, 'd', 'a']);
      expect(await listed({ ids: [] })).toEqual([0]);
    });

    test('a queued task is cancelled upstream, and refunded once that is confirmed', async () => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', looksLike('queued'));
      expect(await node.tasks.remove(owner, 'a')).toBe('cancelled');
      expect(bench.fake.calls.map(({ method }) => method)).toEqual(['GET', 'DELETE', 'GET']);
      expect(await node.tasks.find(owner, 'a')).toMatchObject({
        state: 'failed',
        failure: { kind: 'cancelled', code: null },
      });
      expect(await sumsOf(bench.database)).toEqual({ spent: 0n, held: 0n });
      expect(await usageOf(bench.database)).toMatchObject([{ error: 'task_cancelled' }]);
    });

    test('a task that the upstream does not cancel is not refunded', async () => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', looksLike('queued'));
      bench.fake.onCall = async ({ method }) => {
        if (method === 'DELETE') bench.fake.tasks.set('up-a', looksLike('running'));
      };
      expect(await node.tasks.remove(owner, 'a')).toBe('running');
      expect(await sumsOf(bench.database)).toMatchObject({ held: 500_000_000n });
      expect(await node.tasks.find(owner, 'a')).toMatchObject({ state: 'running' });
    });

    test('a task that has succeeded meanwhile is charged, and its video is not removed', async () => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', succeeded(5_000));
      expect(await node.tasks.remove(owner, 'a')).toBe('running');
      expect(bench.fake.calls.map(({ method }) => method)).toEqual(['GET']);
      expect(await node.tasks.find(owner, 'a')).toMatchObject({ state: 'succeeded' });
      expect(await sumsOf(bench.database)).toEqual({ spent: 500_000_000n, held: 0n });
    });

    test('a running task cannot be removed, and its upstream is not asked', async () => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', looksLike('running'));
      bench.pass(rules.pollInterval);
      await node.turn();
      expect(await node.tasks.remove(owner, 'a')).toBe('running');
      expect(bench.fake.calls).toHaveLength(1);
    });

    test('a task that has ended is hidden from its owner, and stays in the books', async () => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', succeeded(5_000));
      bench.pass(rules.pollInterval);
      await node.turn();
      expect(await node.tasks.remove(owner, 'a')).toBe('hidden');
      expect(await node.tasks.find(owner, 'a')).toBeNull();
      expect(await node.tasks.remove(owner, 'a')).toBeNull();
      expect(await node.tasks.list(owner, everything)).toEqual({ total: 0, tasks: [] });
      expect(await usageOf(bench.database)).toHaveLength(1);
    });
  });
});
