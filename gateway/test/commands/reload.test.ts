import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSimulator } from 'simulator';
import { expect, onTestFinished, test } from 'vitest';
import { writePidFile } from '#commands/runtime-files.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { askChat } from '../workers/workplace.ts';
import { createWorkplace } from './support.ts';

const secret = 'sk-test-0123456789abcdefghijklmnopqrstuv';

/** A process that answers SIGHUP the way the gateway does. */
async function standIn(folder: string, outcome: { ok: boolean; problems: string[] }) {
  const files = join(import.meta.dirname, '../../src/process/commands/runtime-files.ts');
  const program = `
    const { writeReloadOutcome } = await import(${JSON.stringify(files)});
    process.on('SIGHUP', () => writeReloadOutcome('data', { at: Date.now(), ...${JSON.stringify(outcome)} }));
    setInterval(() => {}, 1000);
    console.log('ready');
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { cwd: folder });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  writePidFile(join(folder, 'data'), { pid: child.pid ?? 0, startedAt: Date.now() });
}

test('reloads the running gateway and reports the outcome', async () => {
  const { sluice, folder } = createWorkplace('{}');
  await sluice('migrate');
  await standIn(folder, { ok: true, problems: [] });
  expect(await sluice('reload')).toEqual({ code: 0, out: 'reloaded\n', err: '' });
});

test('reports why the gateway kept its settings', async () => {
  const { sluice, folder } = createWorkplace('{}');
  await sluice('migrate');
  await standIn(folder, { ok: false, problems: ['server.port cannot change while running'] });
  expect(await sluice('reload')).toEqual({
    code: 1,
    out: '',
    err: 'server.port cannot change while running\n',
  });
});

test('checks the file before it signals the gateway', async () => {
  const { sluice, write } = createWorkplace('{}');
  await sluice('migrate');
  write('server: { prot: 1 }');
  const { code, err } = await sluice('reload');
  expect({ code, err }).toMatchObject({
    code: 1,
    err: expect.stringContaining('sluice.yaml:1: server.prot'),
  });
});

test('reports problems of the file as JSON too', async () => {
  const { sluice, write } = createWorkplace('{}');
  write('server: { prot: 1 }');
  const { code, out, err } = await sluice('reload', '--json');
  expect({ code, err }).toEqual({ code: 1, err: '' });
  expect(JSON.parse(out)).toEqual({
    ok: false,
    problems: [expect.stringContaining('sluice.yaml:1: server.prot')],
    restart: [],
  });
});

test('does not signal a gateway that has ended', async () => {
  const { sluice, folder } = createWorkplace('{}');
  await sluice('migrate');
  expect(await sluice('reload')).toMatchObject({
    code: 1,
    err: expect.stringContaining('no gateway is running'),
  });
  writePidFile(join(folder, 'data'), { pid: 4_194_303, startedAt: 0 });
  expect(await sluice('reload')).toMatchObject({
    code: 1,
    err: expect.stringContaining('no gateway is running'),
  });
});

test('lists changed settings that need a restart, and removes the demo once there are channels', async () => {
  const accounts = `users: [{ email: u@example.com }]
keys: [{ name: k, user: u@example.com, secret: ${secret} }]
`;
  const { sluice, json, write, folder } = createWorkplace(`server: { port: 0 }\n${accounts}`);
  const gateway = startGatewayProcess({ folder });
  onTestFinished(() => void gateway.child.kill('SIGKILL'));
  const url = await gateway.url;
  const models = async () => {
    const response = await fetch(`${url}/v1/models`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    const { data } = (await response.json()) as { data: { id: string }[] };
    return data.map(({ id }) => id);
  };
  expect(await models()).toContain('demo-chat');
  expect(await json('reload')).toEqual({ ok: true, problems: [], restart: [] });
  expect(await models()).toContain('demo-chat');

  write(`server: { port: 0, body_limit: 1MiB }
storage: { data_dir: ./data, url: "sqlite:./elsewhere/other.db" }
timeouts: { first_byte: 7s }
metrics: { token: a-canary-token }
channels:
  - { name: mine, provider: openai-compatible, base_url: "http://127.0.0.1:9/v1", models: [own] }
models: [{ id: own, type: chat, price: { input: 1, output: 1 } }]
${accounts}`);
  expect(await sluice('reload')).toEqual({
    code: 0,
    out: 'reloaded\nthese settings changed and need a restart: metrics.token, server.body_limit, storage.url, timeouts.first_byte\n',
    err: '',
  });
  expect(await models()).toEqual(['own']);
  expect(gateway.stderr()).toMatch(/server\.body_limit, .*"some changed settings need a restart"/);
  expect(gateway.stderr()).not.toContain('canary');
});

test('R-43 a file with an invalid price changes nothing: the last valid price is charged', async () => {
  const simulator = await startSimulator();
  onTestFinished(() => simulator.close());
  const fileOf = (input: string) => `server: { port: 0 }
channels:
  - { name: sim, provider: simulator, base_url: "${simulator.url}", protocols: [chat], models: [demo-chat, second] }
models:
  - { id: demo-chat, type: chat, price: { input: ${input}, output: 0 } }
  - { id: second, type: chat, price: { input: 1, output: 1 } }
users: [{ email: u@example.com, balance: 10 }]
keys: [{ name: k, user: u@example.com, secret: ${secret} }]
`;
  const { sluice, json, write, folder } = createWorkplace(fileOf('1000'));
  const gateway = startGatewayProcess({ folder });
  onTestFinished(() => void gateway.child.kill('SIGKILL'));
  const url = await gateway.url;
  const ask = async () => {
    const { status } = await askChat(url, { key: secret });
    expect(status).toBe(200);
  };
  await ask();
  for (const damaged of ['x', '-1', '.nan', '1e9', '"1000', '{']) {
    write(fileOf(damaged));
    expect(await sluice('check')).toMatchObject({ code: 1 });
    // As an operator does without checking first.
    const failures = () =>
      gateway.stderr().split('"the configuration file was not reloaded"').length;
    const before = failures();
    gateway.child.kill('SIGHUP');
    await expect.poll(failures).toBe(before + 1);
    await ask();
  }
  write(fileOf('1000'));
  const costs = async () => {
    const { data } = (await json('usage')) as { data: { cost: string }[] };
    return data.map(({ cost }) => cost);
  };
  await expect.poll(async () => (await costs()).length).toBe(7);
  expect(new Set(await costs()).size).toBe(1);
  write(fileOf('2000'));
  expect(await sluice('reload')).toMatchObject({ code: 0 });
  await ask();
  await expect.poll(async () => (await costs()).length).toBe(8);
  const [now, last] = await costs();
  expect(Number(now)).toBeCloseTo(2 * Number(last), 9);
});

test('a gateway that cannot write its files in the data folder serves, reloads and stops', async () => {
  const { folder } = createWorkplace('server: { port: 0, drain_timeout: 1s }');
  // As on a full disk.
  for (const name of ['sluice.pid', 'reload.json']) {
    mkdirSync(join(folder, 'data', name), { recursive: true });
    writeFileSync(join(folder, 'data', name, 'x'), '');
  }
  const gateway = startGatewayProcess({ folder });
  const url = await gateway.url;
  gateway.child.kill('SIGHUP');
  await expect.poll(gateway.stderr, { timeout: 20_000 }).toContain('could not write reload.json');
  expect(gateway.stderr()).toContain('could not write sluice.pid');
  const ready = (await (await fetch(`${url}/ready`)).json()) as { degraded: string[] };
  expect(ready.degraded).toEqual([]);
  expect(readdirSync(join(folder, 'data')).filter((name) => /\.\d+$/.test(name))).toEqual([]);
  rmSync(join(folder, 'data/sluice.pid'), { recursive: true });
  gateway.child.kill('SIGINT');
  expect(await gateway.exit).toBe(0);
});
