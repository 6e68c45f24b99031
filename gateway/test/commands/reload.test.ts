import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writePidFile } from '#commands/runtime-files.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
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

test(
  'lists changed settings that need a restart, removes the demo once there are channels, and logs weak keys again',
  { timeout: 60_000 },
  async () => {
    const typed = `sk-${'production'.repeat(4)}`;
    const accounts = `users: [{ email: u@example.com }]
keys:
  - { name: k, user: u@example.com, secret: ${secret} }
  - { name: typed, user: u@example.com, secret: ${typed} }
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
    const warnings = () => gateway.stderr().split('look guessable').length - 1;
    expect(await models()).toContain('demo-chat');
    expect(warnings()).toBe(1);
    expect(await json('reload')).toEqual({ ok: true, problems: [], restart: [] });
    expect(await models()).toContain('demo-chat');
    await expect.poll(warnings).toBe(2);

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
    expect(gateway.stderr()).toMatch(
      /server\.body_limit, .*"some changed settings need a restart"/,
    );
    expect(gateway.stderr()).not.toContain('canary');
    expect(gateway.stderr()).not.toContain(typed);
  },
);

test(
  'a gateway that cannot write its files in the data folder serves, reloads and stops',
  { timeout: 60_000 },
  async () => {
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
  },
);
