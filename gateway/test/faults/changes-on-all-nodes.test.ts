import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { run } from '#commands/index.ts';
import { canStartRedis } from '../limits/private-redis.ts';
import { isSkipped, listenersOf } from '../database/databases.ts';
import { askChat } from '../workers/workplace.ts';
import { key, nodeNames, startNodes, stopAndReconcile } from './nodes.ts';

describe.skipIf(!canStartRedis || isSkipped('postgres'))('three nodes', () => {
  test(
    'a change on one node takes effect on all nodes at once, or within five seconds: revoked, disabled, limited, topped up, rotated',
    { timeout: 120_000 },
    async () => {
      const accounts = (limited: string, enabled: boolean) => `
users:
  - { email: rich@example.com, balance: 1000 }
  - { email: broke@example.com, balance: 0 }
  - { email: leaving@example.com, balance: 1000, enabled: ${enabled} }
keys:
  - { name: limited, user: rich@example.com, secret: ${key('limited')}${limited} }
  - { name: broke, user: broke@example.com, secret: ${key('broke')} }
  - { name: leaving, user: leaving@example.com, secret: ${key('leaving')} }
`;
      const nodes = await startNodes(accounts('', true));
      const { place, urls, processes, database } = nodes;
      const sluice = async (...argv: string[]): Promise<string> => {
        let out = '';
        const code = await run([...argv], {
          stdout: (text) => (out += text),
          stderr: (text) => (out += text),
          environment: {},
          workingDirectory: `${place.folder}/a`,
        });
        expect([code, out]).toEqual([0, out]);
        return out;
      };
      const everywhere = (secretOf: string, model?: string) =>
        Promise.all(
          urls.map(
            async (url) => (await askChat(url, { key: secretOf, ...(model && { model }) })).status,
          ),
        );
      const within = (timeout: number, secretOf: string, status: number) =>
        expect
          .poll(() => everywhere(secretOf), { timeout, interval: 50 })
          .toEqual([status, status, status]);
      const within5s = (secretOf: string, status: number) => within(5_000, secretOf, status);
      const create = async (name: string): Promise<string> => {
        const made = await sluice(
          'key',
          'create',
          '--user',
          'rich@example.com',
          '--name',
          name,
          '--json',
        );
        return (JSON.parse(made) as { key: string }).key;
      };

      const made = await create('made');
      expect(await everywhere(made)).toEqual([200, 200, 200]);
      const rotated = await sluice('key', 'rotate', 'made', '--grace', '8s', '--json');
      const { key: renewed } = JSON.parse(rotated) as { key: string };
      expect(await everywhere(renewed)).toEqual([200, 200, 200]);
      expect(await everywhere(made)).toEqual([200, 200, 200]);
      // Five seconds after its grace.
      await within(13_000, made, 401);
      expect(await everywhere(renewed)).toEqual([200, 200, 200]);

      const second = await sluice('key', 'rotate', 'made', '--json');
      const { key: last } = JSON.parse(second) as { key: string };
      expect(await everywhere(renewed)).toEqual([200, 200, 200]);
      await sluice('key', 'revoke', 'made');
      await within5s(renewed, 401);
      await within5s(last, 401);

      // Notified by the database: no node polls that often.
      for (const name of ['first', 'second', 'third']) {
        const revoked = await create(name);
        expect(await everywhere(revoked)).toEqual([200, 200, 200]);
        await sluice('key', 'revoke', name);
        await within(2_500, revoked, 401);
      }
      // Not notified, because those connections are cut.
      const unheard = await create('unheard');
      expect(await everywhere(unheard)).toEqual([200, 200, 200]);
      const listeners = await listenersOf(database);
      // Each node listens over one connection.
      expect(listeners).toHaveLength(nodeNames.length);
      for (const pid of listeners) {
        await sql`select pg_terminate_backend(${pid})`.execute(database.kysely);
      }
      await sluice('key', 'revoke', 'unheard');
      await within5s(unheard, 401);

      expect(await everywhere(key('broke'))).toEqual([402, 402, 402]);
      await sluice('user', 'credit', 'broke@example.com', '5', '--reason', 'test');
      await within5s(key('broke'), 200);

      expect(await everywhere(key('limited'))).toEqual([200, 200, 200]);
      expect(await everywhere(key('leaving'))).toEqual([200, 200, 200]);
      place.write({ node: 'a', more: accounts(', quota: 0', false) });
      processes[0]!.child.kill('SIGHUP');
      await within5s(key('limited'), 402);
      await within5s(key('leaving'), 401);
      await stopAndReconcile(nodes);
    },
  );
});
