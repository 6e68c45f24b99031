import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TaskLook } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { OpenTask } from '#tasks/index.ts';
import { dialects, isSkipped } from '../database/databases.ts';
import { looksLike, succeeded, type Mood } from './fake-vendor.ts';
import {
  accepted,
  endLeases,
  heldFor5s,
  openTasksBench,
  owner,
  rules,
  sumsOf,
  usageOf,
  type BenchNode,
  type TasksBench,
} from './tasks-bench.ts';

/** What may happen, in any order. `task`: which of those there are. */
type Act =
  | { readonly kind: 'begin' | 'accept' | 'refuse' | 'find' | 'remove'; readonly task: number }
  | { readonly kind: 'make'; readonly task: number; readonly as: TaskLook['state'] }
  | { readonly kind: 'turn' | 'kill' | 'leases-end' }
  | { readonly kind: 'mood'; readonly mood: Mood }
  | { readonly kind: 'pass'; readonly milliseconds: number };

const ids = ['a', 'b', 'c'];
const task = fc.nat({ max: ids.length - 1 });
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('begin' as const, 'accept', 'refuse', 'find', 'remove'),
    task,
  }),
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('turn' as const, 'kill', 'leases-end') }),
  },
  fc.record({
    kind: fc.constant('make' as const),
    task,
    as: fc.constantFrom<TaskLook['state'][]>(
      'queued',
      'running',
      'succeeded',
      'failed',
      'cancelled',
      'expired',
      'withheld',
      'unknown',
    ),
  }),
  fc.record({
    kind: fc.constant('mood' as const),
    mood: fc.constantFrom<Mood[]>('well', { status: 429 }, { status: 500 }, 'cut', 'garbled'),
  }),
  fc.record({
    kind: fc.constant('pass' as const),
    milliseconds: fc.constantFrom(1_000, 10_000, 600_000, 3_600_000, rules.expireAfter),
  }),
);

const final = ['succeeded', 'failed', 'expired'];

/** Carries out a history, and checks after each act what must hold whatever happened. */
async function live(bench: TasksBench, acts: readonly Act[]): Promise<void> {
  await bench.renew();
  let node: BenchNode = bench.node('node_1');
  let kills = 0;
  const open = new Map<string, OpenTask>();
  const ends = new Map<string, string>();
  /** What its process knows of a task is lost with it. */
  const known = new Map<string, string>();

  const perform = async (one: Act): Promise<void> => {
    if (one.kind === 'turn') return void (await node.turn());
    if (one.kind === 'leases-end') return endLeases(bench.database);
    if (one.kind === 'mood') return void (bench.fake.mood = one.mood);
    if (one.kind === 'pass') return bench.pass(one.milliseconds);
    if (one.kind === 'kill') {
      node = bench.node(`node_${(kills += 1) % 2}`);
      return open.clear();
    }
    if (!('task' in one)) return;
    const id = ids[one.task]!;
    const pending = open.get(id);
    switch (one.kind) {
      case 'begin':
        if (!known.has(id)) open.set(id, await node.begin(id));
        return void known.set(id, 'begun');
      case 'accept':
        open.delete(id);
        if (pending !== undefined) {
          await node.tasks.accept(pending, accepted(`up-${id}`, 1)).catch(() => {});
        }
        return;
      case 'refuse':
        open.delete(id);
        if (pending !== undefined) {
          await node.tasks.refuse(pending, {
            error: new GatewayError('upstream_abnormal'),
            attempts: [],
            isUncertain: false,
          });
        }
        return;
      case 'make':
        bench.fake.tasks.set(
          `up-${id}`,
          one.as === 'succeeded' ? succeeded(5_000) : looksLike(one.as),
        );
        return;
      case 'find':
        return void (await node.tasks.find(owner, id));
      case 'remove':
        return void (await node.tasks.remove(owner, id).catch((error: unknown) => {
          expect(error).toMatchObject({ errorName: 'unavailable' });
        }));
    }
  };

  for (const one of acts) {
    await perform(one);
    await check(bench, ends);
  }
}

async function check({ database }: TasksBench, ends: Map<string, string>): Promise<void> {
  const rows = await database.kysely.selectFrom('tasks').selectAll().execute();
  const usage = await usageOf(database);
  const ended = rows.filter(({ state }) => final.includes(state));
  const charged = ended.filter(({ state }) => state === 'succeeded');
  // One row each, when it has ended and not before; only success is charged; nothing is held for what has ended.
  expect(usage.map(({ id }) => id).toSorted()).toEqual(
    ended.map(({ request_id }) => request_id).toSorted(),
  );
  expect(await sumsOf(database)).toEqual({
    spent: BigInt(charged.length) * heldFor5s,
    held: BigInt(rows.length - ended.length) * heldFor5s,
  });
  for (const { id, state, due_at: due, ended_at: at } of rows) {
    const before = ends.get(id);
    if (before !== undefined) expect(state).toBe(before);
    if (final.includes(state)) ends.set(id, state);
    expect(at !== null).toBe(final.includes(state));
    // Whoever is killed, somebody looks again.
    if (at === null) expect(due).not.toBeNull();
  }
}

describe.each(dialects)('whatever happens to tasks on %s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('each', () => {
    let bench: TasksBench;
    beforeAll(async () => {
      bench = await openTasksBench(dialect);
    });
    afterAll(() => bench.close());

    test('ends once, and is charged or refunded with its end', async () => {
      const history = fc.array(act, { minLength: 5, maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(history, (acts) => live(bench, acts)),
        { numRuns: 25, endOnFailure: true },
      );
    }, 120_000);
  });
});
