import { setTimeout as wait } from 'node:timers/promises';
import type { ReceivedRequest } from 'simulator';
import { describe, expect, test } from 'vitest';
import { askRaw, describeChannels, shareGateway, until } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { keyQuota } from '../money/books.ts';
import { testKey, type TestGateway } from '../support/gateway.ts';
import { allRows, reconcileLogs, type ClientLog } from './reconcile.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom();

/** Clients that leave, per protocol; `npm run test:sieges` asks for all thousand. */
const clients = process.env['SLUICE_FAULT_LOOPS'] === undefined ? 100 : 1_000;
const atOnce = 50;

const shared = shareGateway({
  config: `
${describeChannels([{ name: 'sim', models: ['demo-chat'] }])}
users: [{ email: tester@example.com, balance: 100000 }]
keys:
  - { name: test, user: tester@example.com, secret: ${testKey}, max_concurrency: ${clients}, quota: 50000 }
`,
});

describe.each(textProtocols)('R-18 $name: many clients that disconnect', (protocol) => {
  test(
    `${clients} clients that disconnect at any moment: the upstream sees each, and nothing is left open`,
    { timeout: 30_000 + clients * 200 },
    async () => {
      const { gateway } = shared;
      const { simulator } = gateway;
      await until(() => simulator.connections() === 0, 'the ones before have ended', 15_000);
      simulator.clear();
      const before = await outcomesOf(gateway);
      const marks: string[] = [];
      let next = 0;
      const leave = async (): Promise<void> => {
        while (next < clients) {
          next += 1;
          const mark = `${protocol.name}-${next}`;
          // Too long to end by itself; headers and content come at once, or late.
          const fault = next % 3 === 0 ? 'delay=400;events=2000;gap=20' : 'events=2000;gap=20';
          const client = await askRaw(
            gateway,
            protocol,
            true,
            'demo-chat',
            [`x-simulator-fault: ${fault}`, `user-agent: ${mark}`],
            `${mark}.`,
          );
          await wait(10 + random() * 300);
          if (next % 2 === 0) client.socket.destroy();
          else client.socket.resetAndDestroy();
          marks.push(mark);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, leave));
      const isOver = () =>
        simulator.requests().every(({ finished, clientLeft }) => finished || clientLeft);
      // Within a second when the machine has nothing else to do; see `../behaviour/client-leaves.test.ts`.
      await until(isOver, 'the upstream saw all of them go', 15_000);
      await until(
        async () => (await keyQuota(gateway, testKey)).held === 0n,
        'no hold is left',
        10_000,
      );
      // Requests that never reached the upstream had not begun; all others were cancelled there.
      const reached = simulator.requests();
      expect(simulator.aborted()).toBe(reached.length);
      expect(reached.length).toBeGreaterThan(clients * 0.7);
      await until(() => simulator.connections() === 0, 'no socket to the upstream is left', 15_000);

      await until(() => gateway.app.journal.depth === 0, 'everything is in the database', 10_000);
      const seen = await whoLeft(gateway, marks, reached);
      expect(reconcileLogs(seen, await allRows(gateway.app.database), reached)).toEqual([]);
      const after = await outcomesOf(gateway);
      const recorded = seen.filter(({ id }) => id !== null).length;
      expect(recorded).toBeGreaterThanOrEqual(reached.length);
      expect(after.get('client-left')! - (before.get('client-left') ?? 0)).toBe(recorded);
      // None was refused either: the clients of all protocols outnumber the slots, so each slot was released.
      expect([...after.keys()]).toEqual(['client-left']);
    },
  );
});

/**
 * Most of them never saw a head of a response, and so no id: their rows are known by their user agent. Who was gone
 * before anything was read is in no row, and at no upstream either.
 */
async function whoLeft(
  { app }: TestGateway,
  marks: readonly string[],
  reached: readonly ReceivedRequest[],
): Promise<ClientLog[]> {
  const rows = await app.database.kysely.selectFrom('usage').select(['id', 'user_agent']).execute();
  const ids = new Map(rows.map((row) => [row.user_agent, row.id]));
  const sent = reached.map(({ body }) => body).join();
  const seen = { status: null, completed: false, left: true };
  return marks.map((mark) => {
    const id = ids.get(mark) ?? (sent.includes(`"${mark}."`) ? 'no row' : null);
    return { mark, id, ...seen };
  });
}

async function outcomesOf({ app }: TestGateway): Promise<Map<string, number>> {
  const rows = await app.database.kysely.selectFrom('usage').select('outcome').execute();
  const counts = new Map<string, number>();
  for (const { outcome } of rows) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return counts;
}
