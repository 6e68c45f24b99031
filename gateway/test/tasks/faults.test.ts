import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { OpenDatabase } from '#database/index.ts';
import { GatewayError } from '#errors/index.ts';
import { dialects, isSkipped } from '../database/databases.ts';
import { looksLike, succeeded } from './fake-vendor.ts';
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

const unavailable = { errorName: 'unavailable' };

/** The same database, which can be made unreachable. */
function breakable(database: OpenDatabase) {
  const state = { isAway: false };
  const kysely = new Proxy(database.kysely, {
    get(target, name) {
      if (state.isAway) throw new Error('no connection');
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return { state, database: { ...database, kysely } };
}

describe.each(dialects)('a database that cannot be reached, on %s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('loses nothing', () => {
    let bench: TasksBench;
    let node: BenchNode;
    let away: { isAway: boolean };
    beforeAll(async () => {
      bench = await openTasksBench(dialect);
    });
    afterAll(() => bench.close());
    beforeEach(async () => {
      await bench.renew();
      const { state, database } = breakable(bench.database);
      away = state;
      node = bench.node('node_1', { database });
    });

    const settledAs = async (state: string, spent: bigint) => {
      expect((await rowOf(bench.database, 'a')).state).toBe(state);
      expect(await sumsOf(bench.database)).toEqual({ spent, held: 0n });
      expect(await usageOf(bench.database)).toHaveLength(1);
    };

    test('before the row: nothing is made, and the hold ends', async () => {
      away.isAway = true;
      await expect(node.begin('a')).rejects.toMatchObject(unavailable);
      away.isAway = false;
      expect(node.holds).toEqual(['rolled-back']);
      expect(await sumsOf(bench.database)).toEqual({ spent: 0n, held: 0n });
      expect(node.tasks.readings.uncertain).toBe(0);
    });

    test('for a second after the upstream has accepted: its id is stored in time', async () => {
      const task = await node.begin('a');
      away.isAway = true;
      const stored = node.tasks.accept(task, accepted('up-a', 1));
      await new Promise((resolve) => setTimeout(resolve, 50));
      away.isAway = false;
      await stored;
      expect(await rowOf(bench.database, 'a')).toMatchObject({
        state: 'queued',
        upstream_id: 'up-a',
      });
    });

    test.runIf(dialect === 'sqlite')(
      'for longer: the client gets 503 after ten seconds, and the id is stored later',
      async () => {
        const task = await node.begin('a');
        away.isAway = true;
        await expect(node.tasks.accept(task, accepted('up-a', 1))).rejects.toMatchObject(
          unavailable,
        );
        away.isAway = false;
        await expect.poll(async () => (await rowOf(bench.database, 'a')).state).toBe('queued');
        bench.fake.tasks.set('up-a', succeeded(5_000));
        bench.pass(rules.pollInterval);
        await node.turn();
        await settledAs('succeeded', heldFor5s);
      },
      30_000,
    );

    test('after a refusal: row and hold end when it is back', async () => {
      const task = await node.begin('a');
      away.isAway = true;
      const error = new GatewayError('upstream_abnormal');
      const refused = node.tasks.refuse(task, { error, attempts: [], isUncertain: false });
      expect((await rowOf(bench.database, 'a')).state).toBe('submitting');
      away.isAway = false;
      await refused;
      await settledAs('failed', 0n);
    });

    test('when it is time to look: the task is looked at later', async () => {
      await node.submit('a');
      bench.fake.tasks.set('up-a', succeeded(5_000));
      bench.pass(rules.pollInterval);
      away.isAway = true;
      await expect(node.turn()).rejects.toThrow('no connection');
      away.isAway = false;
      await node.turn();
      await settledAs('succeeded', heldFor5s);
    });

    test.each([
      ['a success', succeeded(5_000), 'succeeded', heldFor5s],
      ['a failure', looksLike('failed'), 'failed', 0n],
    ] as const)('when %s is to be stored: it is seen again and settled once', async (...given) => {
      const [, look, state, spent] = given;
      await node.submit('a');
      bench.fake.tasks.set('up-a', look);
      bench.pass(rules.pollInterval);
      bench.fake.onCall = async () => void (away.isAway = true);
      await node.turn();
      away.isAway = false;
      bench.fake.onCall = async () => {};
      expect((await rowOf(bench.database, 'a')).state).toBe('queued');
      expect(await sumsOf(bench.database)).toEqual({ spent: 0n, held: heldFor5s });
      await endLeases(bench.database);
      await node.turn();
      await settledAs(state, spent);
    });

    test('when owners ask: they get 503, and nothing is looked at', async () => {
      await node.submit('a');
      bench.pass(rules.pollInterval);
      away.isAway = true;
      const everything = { pageNumber: 1, pageSize: 10, states: null, model: null, ids: null };
      await expect(node.tasks.find(owner, 'a')).rejects.toMatchObject(unavailable);
      await expect(node.tasks.list(owner, everything)).rejects.toMatchObject(unavailable);
      await expect(node.tasks.remove(owner, 'a')).rejects.toMatchObject(unavailable);
      expect(bench.fake.calls).toEqual([]);
      away.isAway = false;
    });

    test('and submits of other processes get the time of a lease afterwards', async () => {
      const other = bench.node('node_2');
      await other.begin('a');
      away.isAway = true;
      node.engine.wake(0);
      await expect.poll(() => node.warnings).not.toEqual([]);
      away.isAway = false;
      await endLeases(bench.database);
      expect(await node.turn()).toBe(0);
      bench.pass(30_001);
      expect(await node.turn()).toBe(1);
    });
  });
});
