import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator } from 'simulator';
import { expect, test } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { reconcile, type Difference } from '#ledger/index.ts';
import { drawAt } from '../support/draw.ts';
import { startGatewayProcess, unexpectedLines } from '../support/gateway-process.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom();

const key = 'sk-kill-nS8wRf3YcM0xSa5LqO7iZe4KdG9tHb6VuW2pXj1F';
const clients = 6;
const asked = Number(process.env['SLUICE_FAULT_LOOPS'] ?? '0');
const loops = asked > 0 ? asked : 1;
/** Nano-USD of one picture. */
const price = 40_000_000n;

test(
  `after ${loops} kills among pictures every response that was seen whole has one row and one charge`,
  { timeout: 60_000 + loops * 15_000 },
  async () => {
    const simulator = await startSimulator();
    const folder = mkdtempSync(join(tmpdir(), 'sluice-kill-images-'));
    const databaseUrl = `sqlite:${folder}/kill.db`;
    writeFileSync(
      join(folder, 'sluice.yaml'),
      `
server: { port: 0, drain_timeout: 2s }
storage: { url: "${databaseUrl}", data_dir: ./data }
channels: [{ name: sim, provider: simulator, base_url: "${simulator.url}", models: [demo-image] }]
users: [{ email: tester@example.com, balance: 1000 }, { email: administrator@example.com, role: admin }]
keys: [{ name: test, user: tester@example.com, secret: ${key} }]
`,
    );
    try {
      const seen: string[] = [];
      for (let loop = 0; loop < loops; loop += 1) seen.push(...(await drawAndKill(folder, loop)));
      const last = startGatewayProcess({ folder });
      await last.url;
      const spool = join(folder, 'data/spool');
      await expect.poll(() => (existsSync(spool) ? readdirSync(spool) : [])).toEqual([]);
      last.child.kill('SIGINT');
      expect(await last.exit).toBe(0);
      expect(unexpectedLines(last.stderr())).toEqual([]);

      const database = openDatabase({ url: databaseUrl });
      try {
        const rows = await database.kysely
          .selectFrom('usage')
          .select(['id', 'outcome', 'cost'])
          .execute();
        const charged = new Map(rows.map(({ id, cost }) => [id, cost]));
        expect(charged.size).toBe(rows.length);
        expect(seen.length).toBeGreaterThan(loops * 5);
        expect(seen.filter((id) => charged.get(id) !== price)).toEqual([]);
        const free = rows.filter(({ outcome }) => outcome !== 'completed');
        expect(free.filter(({ cost }) => cost !== null && cost !== 0n)).toEqual([]);
        const differences: Difference[] = [];
        await reconcile(database, {}, (difference) => void differences.push(difference));
        expect(differences).toEqual([]);
      } finally {
        await database.close();
      }
    } finally {
      await simulator.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

/** Asks for new and edited pictures until the gateway dies. @returns the ids of responses that came whole. */
async function drawAndKill(folder: string, loop: number): Promise<string[]> {
  const gateway = startGatewayProcess({ folder });
  const url = await gateway.url;
  const fatal = 8 + Math.floor(random() * 20);
  const seen: string[] = [];
  const state = { isOver: false };
  void gateway.exit.then(() => (state.isOver = true));
  const draw = async (seed: number): Promise<void> => {
    const drawn = await drawAt(url, {
      key,
      size: '256x256',
      fault: 'picture-bytes=400000',
      ...(seed % 3 === 0 && { edited: seed }),
      isStreamed: seed % 3 === 1,
    });
    if (drawn === null || !drawn.isWhole || drawn.id === null) return;
    seen.push(drawn.id);
    // Most kills come in the moment in which a client sees its response complete.
    if (seen.length === fatal && loop % 3 < 2) gateway.child.kill('SIGKILL');
  };
  if (loop % 3 === 2) setTimeout(() => gateway.child.kill('SIGKILL'), 800 + random() * 700);
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let at = 0; !state.isOver; at += 1) await draw(client * 1_000 + at);
    }),
  );
  await gateway.exit;
  return seen;
}
