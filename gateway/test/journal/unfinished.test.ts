import { createServer } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '#commands/index.ts';
import { scrape, valueOf } from '../observability/support.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';

const secret = 'sk-test-0123456789abcdefghijklmnopqrstuvwxyz';

const chunk = (parts: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...parts })}\n\n`;
const content = chunk({
  choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }],
});
const end =
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) +
  chunk({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } }) +
  'data: [DONE]\n\n';

/** An upstream whose streams begin, and end only for those that ask for it. */
async function startUpstream(): Promise<string> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(content);
      if (Buffer.concat(parts).includes('to the end')) response.end(end);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

test(
  'attempts that a kill cut off are shown with what they may cost, and counted once',
  { timeout: 60_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-unfinished-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(
      join(folder, 'sluice.yaml'),
      `
server: { port: 0 }
storage: { url: "sqlite:${folder}/test.db", data_dir: ./data }
channels:
  - { name: vendor, provider: openai-compatible, base_url: "${await startUpstream()}", api_key: x, models: [m] }
models: [{ id: m, type: chat, max_output_tokens: 1000, price: { input: 1, output: 2 } }]
users: [{ email: tester@example.com, balance: 10 }, { email: administrator@example.com, role: admin }]
keys: [{ name: test, user: tester@example.com, secret: ${secret} }]
`,
    );
    const start = async () => {
      const gateway = startGatewayProcess({ folder });
      onTestFinished(async () => {
        gateway.child.kill('SIGKILL');
        await gateway.exit;
      });
      return { gateway, url: await gateway.url };
    };
    const sluice = async (...argv: string[]) => {
      let out = '';
      const io = {
        stdout: (text: string) => (out += text),
        stderr: (text: string) => (out += text),
      };
      await run(argv, { ...io, environment: {}, workingDirectory: folder });
      return out;
    };
    const ask = (url: string, text: string) =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'm',
          stream: true,
          max_tokens: 100,
          messages: [{ role: 'user', content: text }],
        }),
      });

    const first = await start();
    expect(await (await ask(first.url, 'to the end')).text()).toContain('[DONE]');
    const cutOff = [await ask(first.url, 'hello'), await ask(first.url, 'hello again')];
    const ids = cutOff.map((response) => response.headers.get('x-request-id'));
    // Both are written without another request that would take them along.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    first.gateway.child.kill('SIGKILL');
    await first.gateway.exit;
    await Promise.allSettled(cutOff.map((response) => response.text()));

    const second = await start();
    await expect
      .poll(async () => valueOf(await scrape(second.url), 'sluice_unfinished_attempts_total'), {
        timeout: 15_000,
      })
      .toBe(2);
    expect(second.gateway.stderr()).toContain('journal: attempts-unfinished');
    const shown = JSON.parse(await sluice('usage', '--unfinished', '--json')) as {
      data: { id: string }[];
    };
    expect(new Set(shown.data.map(({ id }) => id))).toEqual(new Set(ids));
    expect(shown.data[0]).toMatchObject({
      attempt: 1,
      key: 'test',
      user: 'tester@example.com',
      team: null,
      model: 'm',
      channel: 'vendor',
      held: expect.stringMatching(/^0\.000\d+$/),
    });
    expect(await sluice('usage', '--unfinished')).toContain('total: 2 attempts\n');
    expect(await sluice('usage', '--unfinished', '--to', '2020-01-01T00:00:00Z')).toContain(
      'total: 0 attempts\n',
    );
    expect(await sluice('usage', '--unfinished', '--by', 'day')).toContain(
      '--unfinished: expected',
    );

    // A stop in order leaves nothing, and what was found is not found again.
    expect(await (await ask(second.url, 'to the end')).text()).toContain('[DONE]');
    second.gateway.child.kill('SIGTERM');
    expect(await second.gateway.exit).toBe(0);
    const third = await start();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(valueOf(await scrape(third.url), 'sluice_unfinished_attempts_total')).toBe(0);
    expect(await sluice('usage', '--unfinished')).toContain('total: 2 attempts\n');
    expect(await sluice('reconcile')).toContain('no differences');
  },
);
