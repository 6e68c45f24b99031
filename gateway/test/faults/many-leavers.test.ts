import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { rawPost, sendRaw, shareGateway, until } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { testKey, type TestGateway } from '../support/gateway.ts';

/** Clients that leave, per protocol; `npm run test:faults` asks for all thousand. */
const clients = process.env['SLUICE_FAULT_LOOPS'] === undefined ? 100 : 1_000;
const atOnce = 50;

const shared = shareGateway({
  config: `
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat, responses, messages, generate-content]
    models: [demo-chat]
users: [{ email: tester@example.com, balance: 100000 }]
keys:
  - { name: test, user: tester@example.com, secret: ${testKey}, max_concurrency: ${clients}, quota: 50000 }
`,
});

describe.each(textProtocols)('R-18 $name', (protocol) => {
  test(
    `${clients} clients that leave at any moment: the upstream sees each, and nothing is left open`,
    { timeout: 30_000 + clients * 200 },
    async () => {
      const { gateway } = shared;
      const { simulator } = gateway;
      simulator.clear();
      await until(() => simulator.connections() === 0, 'the ones before have ended', 10_000);
      const before = await outcomesOf(gateway);
      let next = 0;
      const leave = async (): Promise<void> => {
        while (next < clients) {
          next += 1;
          // Too long to end by itself; headers and content come at once, or late.
          const fault = next % 3 === 0 ? 'delay=400;events=400;gap=20' : 'events=400;gap=20';
          const client = await sendRaw(
            gateway.url,
            rawPost(protocol.path('demo-chat', true), protocol.body('demo-chat', true), [
              `x-simulator-fault: ${fault}`,
            ]),
          );
          await wait(10 + Math.random() * 300);
          if (next % 2 === 0) client.socket.destroy();
          else client.socket.resetAndDestroy();
        }
      };
      await Promise.all(Array.from({ length: atOnce }, leave));
      const left = performance.now();
      const isOver = () =>
        simulator.requests().every(({ finished, clientLeft }) => finished || clientLeft);
      await until(isOver, 'the upstream saw all of them go', 1_500);
      await until(async () => (await heldBy(gateway)) === '0', 'no hold is left', 2_000);
      expect(performance.now() - left).toBeLessThan(3_000);
      // What never reached the upstream was not begun; everything else was cut there.
      const reached = simulator.requests();
      expect(simulator.aborted()).toBe(reached.length);
      expect(reached.length).toBeGreaterThan(clients * 0.7);
      await until(() => simulator.connections() === 0, 'no socket to the upstream is left');

      await until(() => gateway.app.journal.depth === 0, 'everything is in the database', 10_000);
      const after = await outcomesOf(gateway);
      expect(after.get('client-left')! - (before.get('client-left') ?? 0)).toBe(clients);
      // Also none was refused: all protocols together are more than there are slots, so each was given back.
      expect([...after.keys()]).toEqual(['client-left']);
    },
  );
});

async function outcomesOf({ app }: TestGateway): Promise<Map<string, number>> {
  const rows = await app.database.kysely.selectFrom('usage').select('outcome').execute();
  const counts = new Map<string, number>();
  for (const { outcome } of rows) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return counts;
}

/** Money that is reserved for requests of the key. */
async function heldBy({ url }: TestGateway): Promise<string> {
  const headers = { authorization: `Bearer ${testKey}` };
  const answer: unknown = await (await fetch(`${url}/v1/usage`, { headers })).json();
  return (answer as { limits: { key_quota: { held: string } } }).limits.key_quota.held;
}
