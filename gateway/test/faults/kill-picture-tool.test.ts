import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startSimulator } from 'simulator';
import { expect, test } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { reconcile, type Difference } from '#ledger/index.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';

const key = 'sk-kill-nS8wRf3YcM0xSa5LqO7iZe4KdG9tHb6VuW2pXj1F';

test(
  'a kill while a picture of a response is drawn: the text is charged once, the picture not at all',
  { timeout: 120_000 },
  async () => {
    const simulator = await startSimulator();
    const folder = mkdtempSync(join(tmpdir(), 'sluice-kill-tool-'));
    const databaseUrl = `sqlite:${folder}/kill.db`;
    writeFileSync(
      join(folder, 'sluice.yaml'),
      `
server: { port: 0, drain_timeout: 2s }
storage: { url: "${databaseUrl}", data_dir: ./data }
channels:
  - { name: text, provider: simulator, base_url: "${simulator.url}", protocols: [chat], models: [writer] }
  - { name: slow, provider: simulator, base_url: "${simulator.url}/fault(delay=2000)", protocols: [images], models: [demo-image] }
models:
  - { id: writer, type: chat, image_tool_model: demo-image, price: { input: 1, output: 2 } }
users: [{ email: tester@example.com, balance: 10 }, { email: administrator@example.com, role: admin }]
keys: [{ name: test, user: tester@example.com, secret: ${key} }]
`,
    );
    const ask = async (url: string): Promise<string> => {
      const response = await fetch(`${url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'writer',
          input: 'call tool image_generation with {"prompt":"A red house"}',
          tools: [{ type: 'image_generation' }],
          stream: true,
        }),
      });
      return response.text();
    };
    try {
      const first = startGatewayProcess({ folder });
      const asking = ask(await first.url).catch(() => 'cut');
      while (!simulator.requests().some(({ path }) => path.includes('/images/'))) await wait(20);
      first.child.kill('SIGKILL');
      await first.exit;
      expect(await asking).not.toContain('response.completed');

      const second = startGatewayProcess({ folder });
      const url = await second.url;
      const isReady = async () => (await fetch(`${url}/ready`)).status;
      await expect.poll(isReady, { timeout: 20_000, interval: 200 }).toBe(200);
      expect(await ask(url)).toContain('response.completed');
      second.child.kill('SIGINT');
      expect(await second.exit).toBe(0);
      const database = openDatabase({ url: databaseUrl });
      try {
        const rows = await database.kysely
          .selectFrom('usage')
          .select(['id', 'model', 'outcome', 'cost'])
          .orderBy('time')
          .execute();
        expect(rows.map(({ model, outcome }) => [model, outcome])).toEqual([
          ['writer', 'completed'],
          ['writer', 'completed'],
          ['demo-image', 'completed'],
        ]);
        expect(rows[2]?.id).toBe(`${String(rows[1]?.id)}_picture_1`);
        expect(rows[0]?.cost).toBe(rows[1]?.cost);
        expect(rows[2]?.cost).toBe(40_000_000n);
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
