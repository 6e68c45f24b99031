import { join } from 'node:path';
import { startSimulator } from 'simulator';
import { expect, onTestFinished, test } from 'vitest';
import { writePidFile } from '#commands/runtime-files.ts';
import { ownAccounts, startInFolder } from '../support/start-in-folder.ts';
import { askChat } from '../workers/workplace.ts';
import { createWorkplace } from './support.ts';

const secret = 'sk-test-0123456789abcdefghijklmnopqrstuv';

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

test('R-43 a file with an invalid price changes nothing: the last valid price is charged', async () => {
  const simulator = await startSimulator();
  onTestFinished(() => simulator.close());
  const fileOf = (input: string) => `server: { port: 0 }
channels:
  - { name: sim, provider: simulator, base_url: "${simulator.url}", protocols: [chat], models: [demo-chat, second] }
models:
  - { id: demo-chat, type: chat, price: { input: ${input}, output: 0 } }
  - { id: second, type: chat, price: { input: 1, output: 1 } }
users: [{ email: u@example.com, role: admin, balance: 10 }]
keys: [{ name: k, user: u@example.com, secret: ${secret} }]
`;
  const { sluice, json, write, folder } = createWorkplace(fileOf('1000'));
  const log: string[] = [];
  const gateway = await startInFolder(folder, { log });
  const ask = async () => {
    const { status } = await askChat(gateway.url, { key: secret });
    expect(status).toBe(200);
  };
  await ask();
  for (const damaged of ['x', '-1', '.nan', '1e9', '"1000', '{']) {
    write(fileOf(damaged));
    expect(await sluice('check')).toMatchObject({ code: 1 });
    // As an operator does without checking first.
    log.length = 0;
    await gateway.reload();
    expect(log).toEqual([expect.stringContaining('the configuration file was not reloaded')]);
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
  await gateway.reload();
  await ask();
  await expect.poll(async () => (await costs()).length).toBe(8);
  const [now, last] = await costs();
  expect(Number(now)).toBeCloseTo(2 * Number(last), 9);
});

test('a node with an earlier file undoes nothing: not by reload, not by restart, not by apply', async () => {
  const masterKey = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7)).toString(
    'base64',
  );
  const fileOf = (database: string, enabled: boolean) => `server: { port: 0 }
storage: { url: "sqlite:${database}", data_dir: data }
secrets: { master_key: ${masterKey} }
${ownAccounts.replace(/users.*/, '')}
users: [{ email: administrator@example.com, role: admin }, { email: u@example.com, enabled: ${enabled} }]
`;
  const a = createWorkplace(null);
  const database = join(a.folder, 'shared.db');
  a.write(fileOf(database, true));
  const b = createWorkplace(fileOf(database, false));
  const isEnabled = async () => {
    const exported = (await b.sluice('export')).out;
    return !exported.includes('enabled: false');
  };
  const log: string[] = [];
  let node = await startInFolder(a.folder, { log });
  expect(await isEnabled()).toBe(true);
  expect(await b.sluice('apply')).toMatchObject({ code: 0 });
  expect(await isEnabled()).toBe(false);

  const refused = 'an earlier file: node_';
  log.length = 0;
  await node.reload();
  expect(log).toEqual([expect.stringMatching(/lists of the configuration file are not applied/)]);
  expect(log.join()).toContain(refused);
  await node.close();
  log.length = 0;
  node = await startInFolder(a.folder, { log });
  expect(log.join()).toContain(refused);
  expect((await fetch(`${node.url}/health`)).status).toBe(200);
  for (const command of ['plan', 'apply']) {
    const { code, err } = await a.sluice(command);
    expect([command, code]).toEqual([command, 1]);
    expect(err).toContain(`sluice.yaml: ${refused}`);
    expect(err).toContain('sluice apply --take-over');
  }
  expect(await isEnabled()).toBe(false);

  expect(await a.sluice('apply', '--take-over')).toMatchObject({ code: 0 });
  expect(await isEnabled()).toBe(true);
  expect(await b.sluice('apply')).toMatchObject({ code: 1 });
});
