import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { GatewayError } from '#errors/index.ts';
import { removeOldTasks } from '#tasks/counts.repository.ts';
import { dialects, isSkipped } from '../database/databases.ts';
import { looksLike, noUsage, succeeded, type Mood } from './fake-vendor.ts';
import {
  accepted,
  endLeases,
  heldFor5s,
  openTasksBench,
  owner,
  rowOf,
  rules,
  sumsOf,
  usageOf,
  type BenchNode,
  type TasksBench,
} from './tasks-bench.ts';

describe.each(dialects)('tasks on %s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('are followed so that', () => {
    let bench: TasksBench;
    let node: BenchNode;
    beforeAll(async () => {
      bench = await openTasksBench(dialect);
    });
    afterAll(() => bench.close());
    beforeEach(async () => {
      await bench.renew();
      node = bench.node('node_1');
    });

    const stateOf = async (id: string) => (await rowOf(bench.database, id)).state;

    test('a success is charged once, with everything that follows from it', async () => {
      await node.submit('a');
      expect(await sumsOf(bench.database)).toEqual({ spent: 0n, held: heldFor5s });
      bench.fake.tasks.set('up-a', succeeded(5_040));
      bench.pass(rules.pollInterval);
      expect(await node.turn()).toBe(1);
      expect(await sumsOf(bench.database)).toEqual({ spent: 504_000_000n, held: 0n });
      const [row, ...others] = await usageOf(bench.database);
      expect(others).toEqual([]);
      expect(row).toMatchObject({
        outcome: 'completed',
        status: 200,
        error: null,
        cost: 504_000_000n,
        held: heldFor5s,
        overshoot: 4_000_000n,
        usage_source: 'reported',
        channel: 'videos',
        upstream_model: 'wan',
        operation: 'generate',
        price_version: 'v1',
      });
      expect(JSON.parse(row!.units!)).toEqual({
        video_ms: 5_040,
        resolution: '720P',
        with_video: false,
        task: 'a',
      });
      expect(await rowOf(bench.database, 'a')).toMatchObject({
        state: 'succeeded',
        quantity: 5_040,
        due_at: null,
        lease_owner: null,
      });
      expect(node.holds).toEqual(['committed', '500000000 504000000']);
      expect(node.ended).toHaveLength(1);
      bench.pass(rules.pollInterval);
      expect(await node.turn()).toBe(0);
      expect(bench.fake.calls).toHaveLength(1);
    });

    test.each([
      ['failed', 'failed', 'task_failed'],
      ['cancelled', 'failed', 'task_cancelled'],
      ['expired', 'expired', 'task_expired'],
    ] as const)('what %s upstream is refunded', async (look, state, error) => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', looksLike(look, { code: 'Vendor.Code' }));
      bench.pass(rules.pollInterval);
      await node.turn();
      expect(await stateOf('a')).toBe(state);
      expect(await sumsOf(bench.database)).toEqual({ spent: 0n, held: 0n });
      expect(await usageOf(bench.database)).toMatchObject([
        { outcome: 'failed', status: 200, error, cost: null },
      ]);
      const view = await node.tasks.find(owner, 'a');
      expect(view?.failure).toEqual({
        kind: look,
        code: look === 'failed' ? 'Vendor.Code' : null,
      });
      expect(node.holds).toEqual(['committed', '500000000 0']);
    });

    test('a task is asked for after one interval, then after each, with the credential and address of its submit', async () => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', looksLike('queued'));
      bench.pass(rules.pollInterval - 1);
      expect(await node.turn()).toBe(0);
      bench.pass(1);
      expect(await node.turn()).toBe(1);
      bench.fake.tasks.set('up-a', looksLike('running'));
      bench.pass(rules.pollInterval - 1);
      expect(await node.turn()).toBe(0);
      bench.pass(1);
      expect(await node.turn()).toBe(1);
      expect(await stateOf('a')).toBe('running');
      expect(bench.fake.calls[1]).toMatchObject({
        method: 'GET',
        origin: 'https://upstream.test',
        path: '/api/v1/tasks/up-a',
        headers: { authorization: 'Bearer upstream-secret', 'x-own': 'yes' },
      });
    });

    test('one interval later an end has been seen, whatever the upstream said before', async () => {
      await node.submit('a');
      for (const state of ['running', 'queued', 'unknown', 'running'] as const) {
        bench.fake.tasks.set('up-a', looksLike(state));
        bench.pass(rules.pollInterval);
        await node.turn();
        expect(await stateOf('a')).toBe('running');
      }
      bench.fake.tasks.set('up-a', succeeded(5_000));
      bench.pass(rules.pollInterval);
      await node.turn();
      expect(await stateOf('a')).toBe('succeeded');
    });

    test('nobody reads the credential in the row', async () => {
      await node.submit('a');
      const { access } = await rowOf(bench.database, 'a');
      expect(access).toMatch(/^v1\./);
      expect(access).not.toContain('upstream-secret');
    });

    test.each<[string, Mood]>([
      ['429', { status: 429 }],
      ['500', { status: 500 }],
      ['404', { status: 404 }],
      ['a cut', 'cut'],
      ['an unreadable body', 'garbled'],
    ])('%s ends no task: it is asked for again, later each time', async (_, mood) => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', looksLike('running'));
      bench.fake.mood = mood;
      for (const [at, pause] of [1, 1, 2, 4, 8, 16, 32, 60, 60].entries()) {
        bench.pass(pause * rules.pollInterval - 1);
        expect(await node.turn(), `look ${at}`).toBe(0);
        bench.pass(1);
        expect(await node.turn(), `look ${at}`).toBe(1);
      }
      expect(await stateOf('a')).toBe('queued');
      bench.fake.mood = 'well';
      bench.pass(60 * rules.pollInterval);
      await node.turn();
      expect(await rowOf(bench.database, 'a')).toMatchObject({ state: 'running', failed_looks: 0 });
    });

    test('a 429 rests the channel for as long as it says, and no other', async () => {
      await node.submit('a');
      await node.submit('b');
      bench.fake.mood = { status: 429, retryAfter: 40 };
      bench.pass(rules.pollInterval);
      await node.turn();
      const asked = bench.fake.calls.length;
      await node.submit('c');
      bench.pass(30_000);
      await bench.database.kysely
        .updateTable('tasks')
        .set({ channel_id: 'ch_2' })
        .where('id', '=', 'c')
        .execute();
      expect(await node.turn()).toBe(1);
      expect(bench.fake.calls.slice(asked).map(({ path }) => path)).toEqual(['/api/v1/tasks/up-c']);
      bench.fake.mood = 'well';
      bench.pass(10_000);
      expect(await node.turn()).toBe(2);
    });

    test('without an end it expires to the millisecond, after one last look, and is refunded', async () => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', looksLike('running'));
      bench.pass(rules.expireAfter - 1);
      await node.turn();
      expect(await stateOf('a')).toBe('running');
      const asked = bench.fake.calls.length;
      bench.pass(1);
      await node.turn();
      expect(bench.fake.calls).toHaveLength(asked + 1);
      expect(await stateOf('a')).toBe('expired');
      expect(await sumsOf(bench.database)).toEqual({ spent: 0n, held: 0n });
      expect(await usageOf(bench.database)).toMatchObject([{ error: 'task_expired', cost: null }]);
      expect(node.tasks.readings.expired).toBe(1);
    });

    test('the last look may still find a success', async () => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', succeeded(5_000));
      bench.pass(rules.expireAfter + 1_000);
      await node.turn();
      expect(await stateOf('a')).toBe('succeeded');
      expect(await sumsOf(bench.database)).toEqual({ spent: heldFor5s, held: 0n });
    });

    test('it expires too while its channel fails, or rests', async () => {
      await node.submit('a');
      await node.submit('b');
      bench.fake.mood = { status: 429, retryAfter: 600 };
      bench.pass(rules.expireAfter - 1);
      await node.turn();
      bench.pass(1);
      await node.turn();
      expect([await stateOf('a'), await stateOf('b')]).toEqual(['expired', 'expired']);
      expect(await sumsOf(bench.database)).toEqual({ spent: 0n, held: 0n });
    });

    test('a success after that is the loss of the operator, in the row and in the readings', async () => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', looksLike('running'));
      bench.pass(rules.expireAfter);
      await node.turn();
      bench.pass(600_000);
      expect(await node.turn()).toBe(1);
      bench.fake.tasks.set('up-a', succeeded(5_000));
      bench.pass(3_000_000 - 1);
      expect(await node.turn()).toBe(0);
      bench.pass(1);
      expect(await node.turn()).toBe(1);
      expect(await rowOf(bench.database, 'a')).toMatchObject({
        state: 'expired',
        lost_quantity: 5_000,
        due_at: null,
      });
      expect(node.tasks.readings.lost).toBe(1);
      const [row] = await usageOf(bench.database);
      expect(JSON.parse(row!.attempts)).toMatchObject([{ units: { video_ms: 5_000 } }]);
      expect(await sumsOf(bench.database)).toEqual({ spent: 0n, held: 0n });
    });

    test('a success without an address is looked at again; if none comes, it is the loss of the operator', async () => {
      const usage = { quantity: 5_000, isImplausible: false };
      await node.submit('a');
      await node.submit('b');
      for (const id of ['up-a', 'up-b']) {
        bench.fake.tasks.set(id, looksLike('withheld', { usage }));
      }
      bench.pass(rules.pollInterval);
      expect(await node.turn()).toBe(2);
      expect([await stateOf('a'), await stateOf('b')]).toEqual(['queued', 'queued']);
      expect(await rowOf(bench.database, 'a')).toMatchObject({ failed_looks: 1 });
      bench.fake.tasks.set('up-b', succeeded(5_000));
      bench.pass(rules.pollInterval);
      await node.turn();
      expect(await stateOf('b')).toBe('succeeded');
      bench.pass(rules.expireAfter);
      await node.turn();
      expect(await rowOf(bench.database, 'a')).toMatchObject({ state: 'expired', quantity: null });
      expect(await sumsOf(bench.database)).toEqual({ spent: heldFor5s, held: 0n });
      bench.pass(600_000);
      await node.turn();
      expect(await rowOf(bench.database, 'a')).toMatchObject({
        lost_quantity: 5_000,
        due_at: null,
      });
      expect(node.tasks.readings.lost).toBe(1);
    });

    test('two looks come after that, and no third', async () => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', looksLike('running'));
      bench.pass(rules.expireAfter);
      await node.turn();
      bench.pass(600_000);
      expect(await node.turn()).toBe(1);
      bench.pass(3_000_000);
      expect(await node.turn()).toBe(1);
      bench.pass(rules.expireAfter);
      expect(await node.turn()).toBe(0);
      expect(await rowOf(bench.database, 'a')).toMatchObject({ lost_quantity: null, due_at: null });
    });

    test('a refused submit ends row and hold before the client hears of it', async () => {
      const task = await node.begin('a');
      const error = new GatewayError('channels_rate_limited', { retryAfter: 7 });
      await node.tasks.refuse(task, { error, attempts: [], isUncertain: false });
      expect(await sumsOf(bench.database)).toEqual({ spent: 0n, held: 0n });
      expect(await usageOf(bench.database)).toMatchObject([
        { outcome: 'failed', status: 429, error: 'channels_rate_limited', cost: null },
      ]);
      expect(await node.tasks.find(owner, 'a')).toBeNull();
      expect(node.holds).toEqual(['committed', '500000000 0']);
      bench.pass(rules.expireAfter);
      expect(await node.turn()).toBe(0);
    });

    test('an uncertain submit keeps its hold for the time of a lease, and counts at once', async () => {
      const task = await node.begin('a');
      const attempt = {
        channel: 'videos',
        class: 'uncertain' as const,
        status: 200,
        result: 'unreadable',
        startedAt: 1,
        durationMs: 2,
        upstreamRequestId: null,
      };
      const error = new GatewayError('upstream_abnormal');
      await node.tasks.refuse(task, { error, attempts: [attempt], isUncertain: true });
      expect(node.tasks.readings.uncertain).toBe(1);
      expect(await node.tasks.find(owner, 'a')).toBeNull();
      bench.pass(29_999);
      expect(await node.turn()).toBe(0);
      expect(await sumsOf(bench.database)).toEqual({ spent: 0n, held: heldFor5s });
      expect(await usageOf(bench.database)).toEqual([]);
      bench.pass(1);
      const other = bench.node('node_2');
      expect(await other.turn()).toBe(1);
      expect(await sumsOf(bench.database)).toEqual({ spent: 0n, held: 0n });
      const [row, ...others] = await usageOf(bench.database);
      expect(others).toEqual([]);
      expect(row).toMatchObject({ outcome: 'failed', status: 502, error: 'upstream_abnormal' });
      expect(JSON.parse(row!.attempts)).toEqual([attempt]);
      expect(other.tasks.readings.uncertain).toBe(0);
      expect(bench.fake.calls).toEqual([]);
    });

    test('a submit that a kill cut short is given up at the next start, and never sent again', async () => {
      await node.begin('a');
      const next = bench.node('node_1');
      expect(await next.turn()).toBe(1);
      expect(await stateOf('a')).toBe('failed');
      expect(await sumsOf(bench.database)).toEqual({ spent: 0n, held: 0n });
      const [row] = await usageOf(bench.database);
      expect(row).toMatchObject({ outcome: 'failed', status: 503, error: 'unavailable' });
      expect(JSON.parse(row!.attempts)).toMatchObject([{ class: 'uncertain' }]);
      expect(bench.fake.calls).toEqual([]);
      expect(next.tasks.readings.uncertain).toBe(1);
    });

    test('other nodes give a submit up after its lease, and the submitting one cannot store it then', async () => {
      const task = await node.begin('a');
      const other = bench.node('node_2');
      expect(await other.turn()).toBe(0);
      expect(await node.turn()).toBe(0);
      await endLeases(bench.database);
      expect(await node.turn()).toBe(0);
      expect(await other.turn()).toBe(1);
      expect(await stateOf('a')).toBe('failed');
      const late = node.tasks.accept(task, accepted('up-a', 1));
      await expect(late).rejects.toMatchObject({ errorName: 'unavailable' });
      expect(await sumsOf(bench.database)).toEqual({ spent: 0n, held: 0n });
    });

    test('what is free holds nothing, costs nothing and has the same row', async () => {
      await node.submit('a', { hold: null, bound: null });
      bench.fake.tasks.set('up-a', succeeded(5_000));
      bench.pass(rules.pollInterval);
      await node.turn();
      expect(await sumsOf(bench.database)).toEqual({ spent: 0n, held: 0n });
      const [row] = await usageOf(bench.database);
      expect(row).toMatchObject({ outcome: 'completed', cost: null, usage_source: 'reported' });
      expect(JSON.parse(row!.units!)).toMatchObject({ video_ms: 5_000 });
      expect(node.holds).toEqual([]);
    });

    test.each([
      ['missing seconds', noUsage, 500_000_000n, 'estimated', 5_000],
      [
        'absurd seconds',
        { quantity: 50_001, isImplausible: false },
        500_000_000n,
        'quarantined',
        5_000,
      ],
      ['no number', { quantity: null, isImplausible: true }, 500_000_000n, 'quarantined', 5_000],
      [
        'ten times the seconds',
        { quantity: 50_000, isImplausible: false },
        5_000_000_000n,
        'reported',
        50_000,
      ],
    ])('%s are charged by the rules', async (_, usage, cost, source, made) => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', looksLike('succeeded', { usage }));
      bench.pass(rules.pollInterval);
      await node.turn();
      expect(await usageOf(bench.database)).toMatchObject([{ cost, usage_source: source }]);
      expect((await node.tasks.find(owner, 'a'))?.quantity).toBe(made);
      expect(await sumsOf(bench.database)).toEqual({ spent: cost, held: 0n });
    });

    test('a task that is accepted wakes whoever looks, without further ado', async () => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', succeeded(5_000));
      bench.pass(rules.pollInterval);
      node.engine.wake(bench.clock.wall);
      await expect.poll(() => stateOf('a')).toBe('succeeded');
      await expect.poll(() => node.tasks.readings.open).toEqual([]);
      expect(node.tasks.readings.looks).toEqual({ answered: 1, limited: 0, failed: 0 });
    });

    test('the readings count open tasks, and name a lag that is longer than a lease', async () => {
      await node.submit('a');
      await node.begin('b');
      bench.fake.mood = { status: 429, retryAfter: 600 };
      bench.pass(rules.pollInterval);
      await node.turn();
      bench.pass(rules.pollInterval + 30_001);
      node.engine.wake(bench.clock.wall);
      await expect.poll(() => node.tasks.readings.isLagging).toBe(true);
      expect(node.tasks.readings.open).toHaveLength(2);
      expect(node.tasks.readings.open).toContainEqual({
        state: 'queued',
        channel: 'videos',
        count: 1,
      });
      expect(node.tasks.readings.looks.limited).toBe(1);
    });

    test('rows go after their end, in steps, and open ones never', async () => {
      for (const id of ['a', 'b', 'open']) await node.submit(id);
      for (const id of ['a', 'b']) bench.fake.tasks.set(`up-${id}`, succeeded(5_000));
      bench.pass(rules.pollInterval);
      await node.turn();
      const { wall } = bench.clock;
      expect(await removeOldTasks(bench.database, wall, 10)).toBe(0);
      expect(await removeOldTasks(bench.database, wall + 1, 1)).toBe(1);
      expect(await removeOldTasks(bench.database, wall + 1, 1)).toBe(1);
      expect(await removeOldTasks(bench.database, wall + rules.expireAfter, 1)).toBe(0);
      expect(await stateOf('open')).toBe('queued');
      expect(await usageOf(bench.database)).toHaveLength(2);
    });

    test('a stop gives the leases back, and a start takes back those of a killed process', async () => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', looksLike('running'));
      bench.fake.mood = 'mute';
      bench.pass(rules.pollInterval);
      const { done } = await node.engine.turn();
      expect(await rowOf(bench.database, 'a')).toMatchObject({ lease_owner: 'node_1', fence: 2 });
      await node.tasks.close();
      await done;
      expect(await rowOf(bench.database, 'a')).toMatchObject({ lease_owner: null });
      const killed = bench.node('node_2');
      await killed.engine.turn();
      bench.fake.mood = 'well';
      expect(await bench.node('node_3').turn()).toBe(0);
      expect(await bench.node('node_2').turn()).toBe(1);
      expect(await stateOf('a')).toBe('running');
    });
  });
});
