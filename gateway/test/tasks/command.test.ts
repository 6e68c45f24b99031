import { describe, expect, onTestFinished, test } from 'vitest';
import { createWorkplace } from '../commands/support.ts';
import { dialects, isSkipped, type Dialect } from '../database/databases.ts';
import { succeeded } from './fake-vendor.ts';
import { openTasksBench, rules } from './tasks-bench.ts';

const second = { keyId: 'key_1', userId: 'usr_2', teamId: null, group: 'default' } as never;

/** One open task, one that has ended, and one of another user and model. */
async function seeded(dialect: Dialect) {
  const bench = await openTasksBench(dialect);
  onTestFinished(() => bench.close());
  const workplace = createWorkplace(`storage: { url: ${JSON.stringify(bench.url)} }`);
  await bench.database.kysely
    .insertInto('users')
    .values({
      id: 'usr_1',
      email: 'ada@example.com',
      name: null,
      role: 'user',
      password_hash: null,
      opening_credit: 0n,
      quota: null,
      groups: '[]',
      owner: 'console',
      enabled: 1,
      created_at: 1,
      updated_at: 1,
      revision: 1,
    })
    .execute();
  const node = bench.node('node_1');
  await node.submit('ended');
  bench.fake.tasks.set('up-ended', succeeded(5_000));
  bench.pass(rules.pollInterval);
  await node.turn();
  await node.submit('open');
  bench.pass(1);
  await node.submit('theirs', { caller: second, model: 'other' });
  const listed = async (...options: string[]) => {
    const { data, total } = (await workplace.json('tasks', ...options)) as {
      data: { id: string }[];
      total: number;
    };
    expect(total).toBe(data.length);
    return data.map(({ id }) => id);
  };
  return { bench, listed, ...workplace };
}

describe.each(dialects)('sluice tasks on %s', (dialect) => {
  test.skipIf(isSkipped(dialect))(
    'lists tasks, the newest first, by what is asked for',
    async () => {
      const { bench, listed, json, sluice } = await seeded(dialect);
      expect(await listed()).toEqual(['theirs', 'open', 'ended']);
      expect(await listed('--open')).toEqual(['theirs', 'open']);
      expect(await listed('--user', 'ADA@example.com')).toEqual(['open', 'ended']);
      expect(await listed('--user', 'usr_2')).toEqual(['theirs']);
      expect(await listed('--model', 'other')).toEqual(['theirs']);
      expect(await listed('--open', '--user', 'ada@example.com', '--model', 'other')).toEqual([]);
      const { data } = (await json('tasks', '--user', 'ada@example.com')) as { data: unknown[] };
      expect(data[0]).toEqual({
        id: 'open',
        request: expect.stringMatching(/^req_/),
        time: new Date(bench.clock.wall - 1).toISOString(),
        user: 'ada@example.com',
        team: null,
        key: 'key_1',
        model: 'demo-video',
        state: 'queued',
        channel: 'videos',
        upstream_id: 'up-open',
        held: '0.5',
        cost: null,
        price: { part: expect.any(String), price: expect.any(String) },
        looked: null,
        failed_looks: 0,
        ended: null,
        lost: null,
      });
      expect(data[1]).toMatchObject({ state: 'succeeded', held: null });
      const { out } = await sluice('tasks', '--open');
      expect(out).toMatch(/^TIME +TASK +USER +MODEL +STATE +CHANNEL +HELD\n/);
      expect(out).toContain('total: 2 tasks\n');
      const unknown = await sluice('tasks', '--user', 'nobody@example.com');
      expect(unknown.err).toBe("note: there is no user 'nobody@example.com'\n");
    },
  );
});
