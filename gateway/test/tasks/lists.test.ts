import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dialects, isSkipped } from '../database/databases.ts';
import { looksLike, succeeded, type Mood } from './fake-vendor.ts';
import {
  openTasksBench,
  owner,
  rowOf,
  rules,
  type BenchNode,
  type TasksBench,
} from './tasks-bench.ts';

describe.each(dialects)('lists of tasks on %s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('save calls', () => {
    let bench: TasksBench;
    let node: BenchNode;
    beforeAll(async () => {
      bench = await openTasksBench(dialect, { most: 3, looksPerSecond: 1_000 });
    });
    afterAll(() => bench.close());
    beforeEach(async () => {
      await bench.renew();
      node = bench.node('node_1');
      for (const id of ['a', 'b']) {
        await node.submit(id);
        bench.fake.tasks.set(`up-${id}`, looksLike('running'));
      }
    });

    const statesOf = async (...ids: string[]) =>
      Promise.all(ids.map(async (id) => (await rowOf(bench.database, id)).state));
    /** The paths that were asked for since. */
    const asked = () => bench.fake.calls.splice(0).map(({ path }) => path.replace('/api/v1', ''));
    const turn = async (after = rules.pollInterval) => {
      bench.pass(after);
      await node.turn();
      return asked();
    };

    test('of all tasks that the list names', async () => {
      bench.fake.tasks.set('up-b', succeeded(5_000));
      expect(await turn()).toEqual(['/list/up-a,up-b']);
      expect(await statesOf('a', 'b')).toEqual(['running', 'succeeded']);
    });

    test('a task that the list leaves out is asked for alone', async () => {
      bench.fake.unlisted.add('up-b');
      bench.fake.tasks.set('up-b', succeeded(5_000));
      expect(await turn()).toEqual(['/list/up-a,up-b', '/tasks/up-b']);
      expect(await statesOf('a', 'b')).toEqual(['running', 'succeeded']);
    });

    test('a task with a very long id is asked for alone: addresses of lists have limits', async () => {
      const long = 'c'.repeat(200);
      await node.submit(long);
      bench.fake.tasks.set(`up-${long}`, succeeded(5_000));
      expect((await turn()).toSorted()).toEqual(['/list/up-a,up-b', `/tasks/up-${long}`]);
      expect(await statesOf('a', 'b', long)).toEqual(['running', 'running', 'succeeded']);
    });

    test.each<[string, Mood]>([
      ['404', { status: 404 }],
      ['405', { status: 405 }],
      ['500', { status: 500 }],
      ['a cut', 'cut'],
      ['a body that is not a list', 'garbled'],
    ])(
      'where a list fails with %s, tasks are asked for one by one for ten minutes',
      async (_, mood) => {
        bench.fake.listMood = mood;
        expect((await turn()).toSorted()).toEqual([
          '/list/up-a,up-b',
          '/tasks/up-a',
          '/tasks/up-b',
        ]);
        expect(await statesOf('a', 'b')).toEqual(['running', 'running']);
        expect((await turn(600_000 - 1)).toSorted()).toEqual(['/tasks/up-a', '/tasks/up-b']);
        bench.fake.listMood = 'well';
        bench.fake.tasks.set('up-b', succeeded(5_000));
        expect(await turn()).toEqual(['/list/up-a,up-b']);
        expect(await statesOf('b')).toEqual(['succeeded']);
      },
    );

    test('a list that is limited rests the channel, and is no failed look', async () => {
      bench.fake.listMood = { status: 429, retryAfter: 20 };
      expect(await turn()).toEqual(['/list/up-a,up-b']);
      expect(await rowOf(bench.database, 'a')).toMatchObject({
        failed_looks: 0,
        lease_owner: null,
      });
      bench.fake.listMood = 'well';
      expect(await turn(19_999)).toEqual([]);
      expect(await turn(1)).toEqual(['/list/up-a,up-b']);
      expect(await statesOf('a', 'b')).toEqual(['running', 'running']);
    });

    test('before they expire, tasks are asked for alone, whatever the list says', async () => {
      bench.fake.tasks.set('up-a', succeeded(5_000));
      bench.fake.listMood = { status: 404 };
      expect(await turn(rules.expireAfter)).toEqual([
        '/list/up-a,up-b',
        '/tasks/up-a',
        '/tasks/up-b',
      ]);
      expect(await statesOf('a', 'b')).toEqual(['succeeded', 'expired']);
    });

    test('a list that says that a task runs does not let it expire alone', async () => {
      bench.fake.onCall = async ({ path }) => {
        if (path.includes('/tasks/up-b')) bench.fake.tasks.set('up-b', succeeded(5_000));
      };
      expect(await turn(rules.expireAfter)).toEqual([
        '/list/up-a,up-b',
        '/tasks/up-a',
        '/tasks/up-b',
      ]);
      expect(await statesOf('a', 'b')).toEqual(['expired', 'succeeded']);
    });

    test('a failed look is not one: the owner who asks next makes another', async () => {
      bench.fake.listMood = { status: 500 };
      bench.fake.mood = { status: 500 };
      await turn();
      bench.fake.mood = 'well';
      bench.fake.tasks.set('up-a', succeeded(5_000));
      expect(await node.tasks.find(owner, 'a')).toMatchObject({ state: 'succeeded' });
    });
  });
});
