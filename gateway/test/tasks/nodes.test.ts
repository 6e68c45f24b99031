import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { postgresAnswers } from '../database/databases.ts';
import { succeeded } from './fake-vendor.ts';
import {
  endLeases,
  heldFor5s,
  openTasksBench,
  owner,
  rowOf,
  rules,
  sumsOf,
  usageOf,
  type TasksBench,
} from './tasks-bench.ts';

const names = ['node_1', 'node_2', 'node_3'];

describe.skipIf(!postgresAnswers)('three nodes on one database', () => {
  let bench: TasksBench;
  beforeAll(async () => {
    bench = await openTasksBench('postgres', { most: 7 });
  });
  afterAll(() => bench.close());
  beforeEach(() => bench.renew());

  test('look at each task once, and settle it once', async () => {
    const nodes = names.map((name) => bench.node(name));
    const ids = Array.from({ length: 60 }, (_, at) => `t${at}`);
    await Promise.all(ids.map((id, at) => nodes[at % 3]!.submit(id)));
    for (const id of ids) bench.fake.tasks.set(`up-${id}`, succeeded(5_000));
    bench.pass(rules.pollInterval);
    const looked = await Promise.all(nodes.map((node) => node.turn()));
    expect(looked.reduce((sum, count) => sum + count, 0)).toBe(60);
    expect(await usageOf(bench.database)).toHaveLength(60);
    expect(await sumsOf(bench.database)).toEqual({ spent: 60n * heldFor5s, held: 0n });
    const asked = bench.fake.calls.flatMap(({ path }) => path.split('/').at(-1)!.split(','));
    expect(asked.toSorted()).toEqual(ids.map((id) => `up-${id}`).toSorted());
    // Many ids in one call.
    expect(bench.fake.calls.length).toBeLessThan(14);
  });

  test('of which one was stopped for longer than its lease settle each task once', async () => {
    const [stopped, second, third] = names.map((name) => bench.node(name));
    await Promise.all(['a', 'b', 'c'].map((id) => stopped!.submit(id)));
    for (const id of ['a', 'b', 'c']) bench.fake.tasks.set(`up-${id}`, succeeded(5_000));
    bench.pass(rules.pollInterval);
    const resumed = Promise.withResolvers<void>();
    bench.fake.onCall = () => resumed.promise;
    const { claimed, done } = await stopped!.engine.turn();
    expect(claimed).toBe(3);
    bench.fake.onCall = async () => {};
    expect(await second!.turn()).toBe(0);
    await endLeases(bench.database);
    // The same task has another end by then: the first to see one decides.
    bench.fake.tasks.set('up-b', { ...succeeded(5_000), state: 'failed' });
    await Promise.all([second!.turn(), third!.turn()]);
    resumed.resolve();
    await done;
    expect(await usageOf(bench.database)).toHaveLength(3);
    expect(await sumsOf(bench.database)).toEqual({ spent: 2n * heldFor5s, held: 0n });
    expect((await rowOf(bench.database, 'b')).state).toBe('failed');
    expect(stopped!.holds.filter((one) => one !== 'committed')).toEqual([]);
  });

  test('charge a task once that two of them and its owner look at', async () => {
    const nodes = names.map((name) => bench.node(name));
    await nodes[0]!.submit('a');
    bench.fake.tasks.set('up-a', succeeded(5_000));
    bench.pass(rules.pollInterval);
    const found = nodes.map((node) => node.tasks.find(owner, 'a'));
    await Promise.all([...found, ...nodes.map((node) => node.turn())]);
    expect(await usageOf(bench.database)).toHaveLength(1);
    expect(await sumsOf(bench.database)).toEqual({ spent: heldFor5s, held: 0n });
  });

  test('leave a submit alone whose process renews its lease', async () => {
    const [first, second] = names.map((name) => bench.node(name));
    await first!.begin('a');
    bench.pass(rules.expireAfter);
    expect(await second!.turn()).toBe(0);
    await first!.tasks.close();
    expect(await second!.turn()).toBe(0);
    await endLeases(bench.database);
    expect(await second!.turn()).toBe(1);
    expect((await rowOf(bench.database, 'a')).state).toBe('failed');
  });
});
