import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator } from 'simulator';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { reconcile, type Difference } from '#ledger/index.ts';
import { createMigratedDatabase, excludeThisProgram, isSkipped } from '../database/databases.ts';
import { startInFolder } from '../support/start-in-folder.ts';

const secret = 'sk-outdated-0123456789abcdefghijklmnop';

const ask = (url: string, path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ max_tokens: 50, ...body }),
  });
const messages = [{ role: 'user', content: 'hello' }];
const priced = { model: 'priced', messages };

test.skipIf(isSkipped('postgres'))(
  'a node whose database needs a newer program finishes what it has begun, admits nothing that costs, and leaves its rows to the newer one',
  async () => {
    const { url: databaseUrl, drop } = await createMigratedDatabase('postgres');
    const simulator = await startSimulator();
    const folder = mkdtempSync(join(tmpdir(), 'sluice-outdated-'));
    onTestFinished(async () => {
      await simulator.close();
      await drop();
      rmSync(folder, { recursive: true, force: true });
    });
    writeFileSync(
      join(folder, 'sluice.yaml'),
      `
server: { port: 0, drain_timeout: 2s }
storage: { url: ${JSON.stringify(databaseUrl)}, data_dir: ./data }
channels: [{ name: sim, provider: simulator, base_url: "${simulator.url}", protocols: [chat, messages], models: [demo-chat, { name: priced, upstream: demo-chat }] }]
models: [{ id: priced, type: chat, max_output_tokens: 1000, price: { input: 1, output: 2 } }]
users: [{ email: tester@example.com, balance: 100 }, { email: administrator@example.com, role: admin }]
keys: [{ name: test, user: tester@example.com, secret: ${secret} }]
`,
    );
    const log: string[] = [];
    const old = await startInFolder(folder, { log });
    const { kysely } = old.app.database;
    const rows = async () => (await kysely.selectFrom('usage').selectAll().execute()).length;
    expect((await ask(old.url, '/v1/chat/completions', priced)).status).toBe(200);
    await expect.poll(rows).toBe(1);

    const underWay = await ask(
      old.url,
      '/v1/chat/completions',
      { ...priced, stream: true },
      { 'x-simulator-fault': 'gap=150' },
    );
    // What the newer program does in its transaction.
    await excludeThisProgram(old.app.database);
    const ready = async () => (await fetch(`${old.url}/ready`)).json();
    await expect
      .poll(ready)
      .toMatchObject({ status: 'unavailable', degraded: expect.arrayContaining(['version']) });
    expect(await (await fetch(`${old.url}/health`)).json()).toEqual({
      status: 'unavailable',
      reason: 'version',
    });
    const metrics = await (await fetch(`${old.url}/metrics`)).text();
    expect(metrics).toContain('sluice_degraded{component="version"} 1');
    expect(await underWay.text()).toContain('data: [DONE]');

    const message = expect.stringContaining('this node of the gateway is older than its database');
    const chat = await ask(old.url, '/v1/chat/completions', priced);
    expect([chat.status, chat.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await chat.json()).toMatchObject({ error: { message, code: 'service_unavailable' } });
    const anthropic = await ask(old.url, '/v1/messages', priced);
    expect(anthropic.status).toBe(503);
    expect(await anthropic.json()).toMatchObject({ type: 'error', error: { message } });
    const models = await fetch(`${old.url}/v1/models`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    expect(models.status).toBe(200);
    await expect
      .poll(() => log.join())
      .toContain('refusing all requests that cost something: the database needs a newer version');
    // The journal says why it keeps them.
    await expect.poll(() => log.join()).toContain('the database needs a newer version of sluice');
    expect(await rows()).toBe(1);
    expect(old.app.journal.depth).toBeGreaterThan(0);
    await old.reload();
    expect(log.at(-1)).toContain('the database needs a newer version of sluice');
    await old.close();
    expect(log.filter((line) => line.includes('refusing all requests'))).toHaveLength(1);

    // It does not start again; the newer program, which knows the step, takes the folder and books the rest.
    const database = openDatabase({ url: databaseUrl });
    onTestFinished(() => database.close());
    await database.kysely.deleteFrom('revisions').where('name', '=', 'oldest-writer').execute();
    const after = await startInFolder(folder);
    const completed = () =>
      after.app.database.kysely
        .selectFrom('usage')
        .select('id')
        .where('outcome', '=', 'completed')
        .execute();
    await expect.poll(completed).toHaveLength(2);
    const differences: Difference[] = [];
    await reconcile(after.app.database, {}, (difference) => void differences.push(difference));
    expect(differences).toEqual([]);
  },
);
