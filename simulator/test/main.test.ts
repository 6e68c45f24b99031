import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { startSimulator } from '../src/index.ts';
import { minimal } from './client.ts';

const source = join(import.meta.dirname, '../src');
let child: ChildProcess | undefined;
afterEach(() => child?.kill('SIGKILL'));

function run(file: string, ...args: string[]): ChildProcess {
  child = spawn(process.execPath, [join(source, file), ...args]);
  return child;
}

async function firstLine(process: ChildProcess): Promise<string> {
  const [data] = (await once(process.stdout!, 'data')) as [Buffer];
  return data.toString();
}

async function output(process: ChildProcess): Promise<{ code: number; text: string }> {
  let text = '';
  process.stdout!.on('data', (data: Buffer) => (text += data.toString()));
  process.stderr!.on('data', (data: Buffer) => (text += data.toString()));
  const [code] = (await once(process, 'close')) as [number];
  return { code, text };
}

test('says one line when ready, serves, and stops on SIGTERM with 0', async () => {
  const running = run('main.ts', '--port', '0');
  const line = await firstLine(running);
  const url = /^sluice-simulator listening on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(line)?.[1];
  expect((await fetch(`${url}/health`)).status).toBe(200);
  running.kill('SIGTERM');
  expect(await once(running, 'exit')).toEqual([0, null]);
});

test.each([
  [[], 1],
  [['--no-log'], 0],
])('with %j it keeps %i of one request', async (options, kept) => {
  const line = await firstLine(run('main.ts', ...options));
  const url = /http:\/\/\S+/.exec(line)?.[0] ?? '';
  const asked = await fetch(`${url}${minimal.chat.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...minimal.chat.headers },
    body: JSON.stringify(minimal.chat.body),
  });
  await asked.text();
  const listed = await (await fetch(`${url}/__requests`)).text();
  expect(listed.match(/"sequence"/g) ?? []).toHaveLength(kept);
});

test('says the same as JSON', async () => {
  const ready = JSON.parse(await firstLine(run('main.ts', '--json'))) as {
    url: string;
    port: number;
  };
  expect(ready.url).toBe(`http://127.0.0.1:${ready.port}`);
});

test('does not outlive its parent', async () => {
  const running = run('main.ts', '--exit-with-parent');
  await firstLine(running);
  running.stdin!.end();
  expect(await once(running, 'exit')).toEqual([0, null]);
});

test('explains itself, and refuses what it does not know with 2', async () => {
  expect(await output(run('main.ts', '--help'))).toMatchObject({
    code: 0,
    text: expect.stringContaining('--exit-with-parent'),
  });
  expect((await output(run('main.ts', '--prot', '1'))).code).toBe(2);
});

test('the load client prints a summary', async () => {
  const simulator = await startSimulator();
  const { path, body } = minimal.chat;
  const args = ['--url', simulator.url + path, '--header', 'Authorization: Bearer k'];
  const text = JSON.stringify({ ...body, stream: true });
  args.push('--body', text, '--requests', '5', '--connections', '2', '--stream', '--json');
  try {
    const result = await output(run('load.ts', ...args));
    expect(JSON.parse(result.text)).toMatchObject({ requests: 5, completed: 5 });
    expect(result.code).toBe(0);
  } finally {
    await simulator.close();
  }
});
