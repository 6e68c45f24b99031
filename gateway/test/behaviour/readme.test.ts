import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { startSimulator } from 'simulator';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startGatewayProcess, type GatewayProcess } from '../support/gateway-process.ts';

/*
 * The README's commands as a newcomer pastes them, in its order, on a gateway's first start. Only the address and the
 * key are others, and `npx sluice` is this checkout's.
 */

const root = resolve(import.meta.dirname, '../../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const simulator = await startSimulator();
const folder = mkdtempSync(join(tmpdir(), 'sluice-readme-'));
let gateway: GatewayProcess;
let url = '';
let key = '';

beforeAll(async () => {
  mkdirSync(join(folder, 'bin'));
  const npx = `#!/bin/sh\nshift\nexec '${process.execPath}' '${join(root, 'gateway/src/main.js')}' "$@"\n`;
  writeFileSync(join(folder, 'bin/npx'), npx, { mode: 0o755 });
  writeFileSync(join(folder, 'sluice.yaml'), 'server: { port: 0 }\n');
  gateway = startGatewayProcess({ folder });
  url = await gateway.url;
  key = /^key: (\S+)$/m.exec(gateway.stdout())?.[1] ?? '';
});

afterAll(async () => {
  gateway.child.kill('SIGKILL');
  await gateway.exit;
  await simulator.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The blocks of a section, in order. */
function blocksOf(section: string, language: string): string[] {
  const start = readme.indexOf(`## ${section}`);
  const end = readme.indexOf('\n## ', start + 1);
  const blocks = readme.slice(start, end).matchAll(/^```(\w*)\n([^]*?)^```/gm);
  return Array.from(blocks)
    .filter(([, written]) => written === language)
    .map(([, , block = '']) => block);
}

/** A block's commands, each with its continued lines. */
function commandsOf(block: string): string[] {
  return block
    .split(/\n(?=(?:curl|npx|export|#)\b|# )/)
    .map((command) => command.replace(/^#.*\n?/gm, '').trim())
    .filter((command) => command !== '');
}

/** Runs the command and returns its output. */
async function paste(command: string): Promise<string> {
  const text = command
    .replaceAll('http://127.0.0.1:8080', url)
    .replace(/^curl /, 'curl -sS --max-time 20 ');
  const { stdout } = await promisify(execFile)('sh', ['-ec', text], {
    cwd: folder,
    env: {
      PATH: [join(folder, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter),
      HOME: folder,
      KEY: key,
    },
  });
  return stdout;
}

const saidHello = expect.stringContaining('You said: "Hello!"') as string;

test('every protocol, one key', { timeout: 60_000 }, async () => {
  const commands = blocksOf('Every protocol, one key', 'sh').flatMap(commandsOf);
  expect(commands).toHaveLength(4);
  const [stream = '', responses = '', messages = '', generateContent = ''] = await Promise.all(
    commands.map(paste),
  );
  const events = stream.split('\n\n').filter((event) => event !== '');
  expect(events.at(-1)).toBe('data: [DONE]');
  const pieces = events
    .slice(0, -1)
    .map((event) => JSON.parse(event.slice('data: '.length)) as { choices: { delta: Delta }[] })
    .map(({ choices }) => choices[0]?.delta.content ?? '');
  expect(pieces.join('')).toEqual(saidHello);
  expect(JSON.parse(responses)).toMatchObject({
    object: 'response',
    status: 'completed',
    output: [{ type: 'message', content: [{ type: 'output_text', text: saidHello }] }],
  });
  expect(JSON.parse(messages)).toMatchObject({
    type: 'message',
    content: [{ type: 'text', text: saidHello }],
    stop_reason: 'end_turn',
  });
  expect(JSON.parse(generateContent)).toMatchObject({
    candidates: [{ content: { parts: [{ text: saidHello }] }, finishReason: 'STOP' }],
  });
});

interface Delta {
  readonly content?: string;
}

test('pictures', { timeout: 60_000 }, async () => {
  const commands = blocksOf('Pictures', 'sh').flatMap(commandsOf);
  expect(commands).toHaveLength(2);
  const [image = '', chat = ''] = commands;
  await paste(image);
  const file = readFileSync(join(folder, 'lighthouse.png'));
  expect(file.subarray(1, 4).toString()).toBe('PNG');
  expect([file.readUInt32BE(16), file.readUInt32BE(20)]).toEqual([1024, 1024]);
  expect(JSON.parse(await paste(chat))).toMatchObject({
    model: 'demo-image',
    choices: [
      { message: { content: expect.stringMatching(/^!\[image\]\(data:image\/png;base64,.+\)$/) } },
    ],
  });
});

test('videos', { timeout: 60_000 }, async () => {
  const [submit = '', ask = '', ...more] = blocksOf('Videos', 'sh').flatMap(commandsOf);
  expect(more).toEqual([]);
  await paste(submit);
  const id = readFileSync(join(folder, 'task'), 'utf8').trim();
  await vi.waitFor(
    async () => {
      expect(JSON.parse(await paste(ask))).toMatchObject({
        output: { task_id: id, task_status: 'SUCCEEDED', video_url: expect.any(String) as string },
      });
    },
    { timeout: 50_000, interval: 1_000 },
  );
});

test('any client, any model', { timeout: 60_000 }, async () => {
  const [file = ''] = blocksOf('Any client, any model', 'yaml');
  expect(file).toContain('http://127.0.0.1:9100');
  const text = file.replace('http://127.0.0.1:9100', simulator.url);
  writeFileSync(join(folder, 'sluice.yaml'), `server: { port: 0 }\n${text}`);
  const [simulate = '', walk = ''] = blocksOf('Any client, any model', 'sh');
  // Where the simulator of this test stands in for it.
  expect(simulate.trim()).toBe('npx sluice simulate --port 9100');
  const [reload = '', call = '', ...more] = commandsOf(walk);
  expect([reload, more]).toEqual(['npx sluice reload', []]);
  expect(await paste(reload)).toBe('reloaded\n');
  const response = await paste(call);
  expect(response).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(response).toContain('\r\nx-sluice-conversion: dropped=cache\r\n');
  expect(JSON.parse(response.slice(response.indexOf('\r\n\r\n')))).toMatchObject({
    type: 'message',
    model: 'qwen3-coder',
    content: [{ type: 'tool_use', name: 'Read', input: { path: 'demo path' } }],
    stop_reason: 'tool_use',
  });
});

test('exact billing: the rows name the demo and the channel of the file', async () => {
  const commands = blocksOf('Exact billing', 'sh').flatMap(commandsOf);
  const [list = '', reconcile = '', own = ''] = commands;
  expect(commands).toHaveLength(3);
  // The journal's second thread has some of the rows yet to move.
  let printed = '';
  await expect
    .poll(
      async () => {
        printed = await paste(list);
        return printed;
      },
      { timeout: 20_000 },
    )
    .toContain('total: 8 requests');
  const rows = printed.split('\n').map((line) => line.split(/ {2,}/));
  expect(rows[0]).toEqual(['TIME', 'KEY', 'MODEL', 'CHANNEL', 'STATUS', 'IN', 'OUT', 'COST']);
  expect(rows[1]?.slice(1, 5)).toEqual(['first', 'qwen3-coder', 'local', '200 completed']);
  expect(rows[2]?.slice(1, 5)).toEqual(['first', 'demo-video-1', 'demo', '200 completed']);
  expect(rows[3]?.slice(1, 5)).toEqual(['first', 'demo-image', 'demo', '200 completed']);
  const checked = await paste(reconcile);
  expect(checked).toMatch(/: no differences\n$/);
  const withoutCounts = (text: string) => text.replaceAll(/\d+/g, '0');
  expect(withoutCounts(blocksOf('Exact billing', 'text').join(''))).toContain(
    withoutCounts(checked),
  );
  expect(JSON.parse(await paste(own))).toMatchObject({ object: 'usage', requests: 8 });
}, 60_000);

test('keys and limits', { timeout: 60_000 }, async () => {
  const [block = ''] = blocksOf('Keys and limits', 'sh');
  const printed = await paste(block);
  const made = /^key 'laptop' of admin@localhost, shown only once:\n(sk-\S+)\n$/.exec(printed)?.[1];
  const [call = ''] = blocksOf('Any client, any model', 'sh').flatMap(commandsOf).slice(-1);
  const first = key;
  key = made ?? '';
  const statuses: string[] = [];
  for (let turn = 0; turn < 3; turn += 1) statuses.push((await paste(call)).slice(9, 12));
  key = first;
  expect(statuses).toEqual(['200', '200', '429']);
});
