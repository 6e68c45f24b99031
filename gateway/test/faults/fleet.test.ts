import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { canStartRedis } from '../limits/private-redis.ts';
import { isSkipped } from '../database/databases.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { askChat, createWorkplace } from '../workers/workplace.ts';
import { key, knowEachOther, nodeNames, stopAndReconcile } from './nodes.ts';

/** `npm run test:sieges` takes as many people as a company has, and as long as a managed database may need. */
const isFull = process.env['SLUICE_FAULT_LOOPS'] !== undefined;
const people = isFull ? 300 : 45;
const outageMs = isFull ? 60_000 : 6_000;
/** Between two requests of a person. */
const pauseMs = isFull ? 9_000 : 1_000;
/** Longer than a lease without a reserve is kept while nobody uses it. */
const quietMs = 13_000;

/** Everybody in a team, with every kind of budget there is, none within reach. */
function describeAccounts(): string {
  const names = Array.from({ length: people }, (_, at) => `person${at}`);
  const teams = Map.groupBy(names, (_, at) => `team${at % 10}`);
  const users = names.map((name) => `{ email: ${name}@example.com, balance: 1 }`);
  const lines = Array.from(teams, ([team, members]) => {
    const shown = members.map((name) => `{ user: ${name}@example.com, budget: 500 }`);
    const budget = '{ daily: 5000, monthly: 50000, total: 90000 }';
    return `{ name: ${team}, balance: 100000, budget: ${budget}, members: [${shown.join()}] }`;
  });
  const keys = [...teams].flatMap(([team, members]) =>
    members.map(
      (name) =>
        `{ name: ${name}, user: ${name}@example.com, team: ${team}, quota: 400, secret: ${key(name)} }`,
    ),
  );
  const list = (entries: readonly string[]) => entries.map((entry) => `\n  - ${entry}`).join('');
  return `users:${list(users)}\nteams:${list(lines)}\nkeys:${list(keys)}\n`;
}

describe.skipIf(!canStartRedis || isSkipped('postgres'))(
  'three nodes without their database',
  () => {
    test(
      `nobody of ${people} people whose money suffices is refused in ${outageMs / 1_000} seconds`,
      { timeout: 240_000 + 2 * outageMs },
      async () => {
        const place = await createWorkplace();
        const target = new URL(place.databaseUrl);
        const proxy = await startTcpProxy(target.hostname, Number(target.port || 5432));
        target.hostname = '127.0.0.1';
        target.port = String(proxy.port);
        const more = describeAccounts();
        for (const node of nodeNames) place.write({ node, more, through: target.href });
        const processes = nodeNames.map((node) => place.start(node));
        const urls = await Promise.all(processes.map(({ url }) => url));
        const database = openDatabase({ url: place.databaseUrl });
        await knowEachOther(urls);

        const ids: string[] = [];
        let round = 0;
        /** Each person asks once, and the next time on another node. */
        const askOnce = async () => {
          round += 1;
          await Promise.all(
            Array.from({ length: people }, async (_, at) => {
              // Not all at once.
              await wait((at * pauseMs) / people);
              const options = { key: key(`person${at}`), model: 'priced' };
              const { status, id, text } = await askChat(urls[(at + round) % 3]!, options);
              expect([status, text]).toEqual([200, expect.any(String)]);
              ids.push(String(id));
            }),
          );
        };
        for (let turn = 0; turn < 3; turn += 1) await askOnce();
        await wait(quietMs);
        proxy.cut();
        const end = performance.now() + outageMs;
        const before = ids.length;
        while (performance.now() < end) await askOnce();
        expect(ids.length - before).toBeGreaterThanOrEqual(people);
        proxy.restore();

        for (const url of urls) {
          const depth = async () =>
            (await (await fetch(`${url}/metrics`)).text()).match(
              /^sluice_journal_depth (\d+)$/mu,
            )?.[1];
          await expect.poll(depth, { timeout: 30_000, interval: 250 }).toBe('0');
        }
        await stopAndReconcile({ place, urls, processes, database });
        const rows = await database.kysely
          .selectFrom('usage')
          .select(['id', 'overshoot', 'late'])
          .execute();
        // Nothing lost, nothing doubled, nothing beyond a hold, nothing without a lease.
        expect(rows.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
        expect(
          rows.filter(({ overshoot, late }) => (overshoot ?? 0n) > 0n || late !== null),
        ).toEqual([]);
        await database.close();
      },
    );
  },
);
