import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';

const preload = new URL('./sqlite-threads.preload.mjs', import.meta.url).href;
const secret = 'sk-threads-0123456789abcdefghijklmnopqrstuv';

/* A file that is read or synced on the thread of requests would hold all of them up. */
test('after the start, the request thread touches no SQLite file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-threads-'));
  const accounts = (rpm: number) => `server: { port: 0 }
users: [{ email: tester@example.com, balance: 100 }, { email: administrator@example.com, role: admin }]
keys: [{ name: test, user: tester@example.com, secret: ${secret}, rpm: ${rpm} }]
`;
  writeFileSync(join(folder, 'sluice.yaml'), accounts(100));
  const gateway = startGatewayProcess({
    folder,
    environment: { NODE_OPTIONS: `--import ${preload}` },
  });
  onTestFinished(async () => {
    gateway.child.kill('SIGKILL');
    await gateway.exit;
    rmSync(folder, { recursive: true, force: true });
  });
  const url = await gateway.url;
  const said = () => gateway.stderr().split('\n');
  const onMain = () => said().filter((line) => line.startsWith('sqlite: main'));
  const onWorkers = () => said().filter((line) => line.startsWith('sqlite: worker'));
  // Before anybody can ask: migrations, the file, the first start.
  expect(onMain().length).toBeGreaterThan(0);
  const before = onMain().length;
  const beforeOnWorkers = onWorkers().length;

  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  for (const protocol of textProtocols) {
    for (const stream of [true, false]) {
      const body = JSON.stringify(protocol.body('demo-chat', stream));
      const path = url + protocol.path('demo-chat', stream);
      const response = await fetch(path, { method: 'POST', headers, body });
      expect(response.status).toBe(200);
      await response.text();
    }
  }
  // An unknown key is looked up, the key's own usage is summed, and the file is reloaded.
  const unknown = { authorization: `Bearer ${secret}x` };
  expect((await fetch(`${url}/v1/models`, { headers: unknown })).status).toBe(401);
  const used = async () => {
    const response = await fetch(`${url}/v1/usage`, { headers });
    return ((await response.json()) as { requests: number }).requests;
  };
  await until(async () => (await used()) === 8, 'all rows are in the database', 20_000);
  writeFileSync(join(folder, 'sluice.yaml'), accounts(99));
  gateway.child.kill('SIGHUP');
  await until(() => gateway.stderr().includes('"reloaded"'), 'the file is taken over', 20_000);

  expect(onMain().slice(before)).toEqual([]);
  expect(onWorkers().length).toBeGreaterThan(beforeOnWorkers);
});
