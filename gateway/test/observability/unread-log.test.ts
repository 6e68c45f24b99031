import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { testKey } from '../support/gateway.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { scrape, valueOf } from './support.ts';

const chat = textProtocols[0]!;

test('R-45 an unread log delays nothing, and its dropped lines are counted', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
  writeFileSync(join(folder, 'sluice.yaml'), processConfig(folder));
  const gateway = startGatewayProcess({ folder });
  const exited = new Promise<number | null>((resolve) => gateway.child.once('exit', resolve));
  onTestFinished(async () => {
    gateway.child.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  });
  const url = await gateway.url;
  gateway.child.stderr?.pause();
  let sent = 0;
  const send = async (): Promise<void> => {
    const key = keys[(sent += 1) % keys.length];
    const response = await fetch(url + chat.path('', false), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(chat.body('m'.repeat(200), false)),
    });
    await response.text();
    expect(response.status).toBe(400);
  };
  let dropped = 0;
  for (let round = 0; round < 100 && dropped === 0; round += 1) {
    for (let batch = 0; batch < 10; batch += 1) {
      // A write that waited would wait for ever, and with it the response.
      await Promise.all(Array.from({ length: 16 }, send));
    }
    dropped = valueOf(await scrape(url), 'sluice_log_lines_dropped_total') ?? 0;
  }
  expect(dropped).toBeGreaterThan(0);
  // Stopping does not wait for the reader either.
  gateway.child.kill('SIGTERM');
  expect(await exited).toBe(0);
}, 60_000);

/** So many that none of them is refused 600 times in a minute. */
const keys = Array.from({ length: 40 }, (_, at) => `${testKey}-${at}`);

const processConfig = (folder: string): string => `
server: { port: 0, drain_timeout: 2s }
storage: { url: "sqlite:${folder}/test.db", data_dir: "${folder}" }
channels:
  - { name: none, provider: openai-compatible, base_url: "http://127.0.0.1:9", protocols: [chat], models: [demo-chat] }
users: [{ email: tester@example.com, balance: 100 }, { email: administrator@example.com, role: admin }]
keys:
${keys.map((secret, at) => `  - { name: test-${at}, user: tester@example.com, secret: ${secret} }`).join('\n')}
`;
