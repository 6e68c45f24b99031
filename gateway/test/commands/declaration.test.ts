import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createWorkplace } from './support.ts';

const file = `channels:
  - { name: main, provider: openai, api_key: "\${UPSTREAM}", models: [fast] }
models:
  - { id: fast, type: chat, price: { input: 0.25, output: 2 } }
users: [{ email: ada@example.com, balance: 10 }]
`;
const environment = { UPSTREAM: 'sk-canary-upstream', MAIN_API_KEY: 'sk-canary-upstream' };

test('check prints ok, or every problem with its line', async () => {
  const { sluice, json, write } = createWorkplace(file, environment);
  expect(await sluice('check')).toEqual({ code: 0, out: 'sluice.yaml: ok\n', err: '' });
  expect(await json('check')).toEqual({ ok: true, file: 'sluice.yaml', problems: [] });
  write('server: { prot: 1 }\nsever: {}\n');
  expect(await sluice('check')).toEqual({
    code: 1,
    out: '',
    err:
      'sluice.yaml:1: server.prot: expected a known key, got "prot" (did you mean "port"?)\n' +
      'sluice.yaml:2: sever: expected a known key, got "sever" (did you mean "server"?)\n',
  });
  const { code, out } = await sluice('check', '--json');
  expect({ code, body: JSON.parse(out) }).toMatchObject({
    code: 1,
    body: { ok: false, problems: [{ line: 1, path: 'server.prot' }, { line: 2 }] },
  });
});

test('check knows the bundled catalogue', async () => {
  const { sluice } = createWorkplace(
    'channels: [{ name: demo, provider: simulator, models: [demo-chat] }]',
  );
  expect(await sluice('check')).toMatchObject({ code: 0 });
});

test('check lists what patterns bring', async () => {
  const patterns = (more: string) => `channels:
  - { name: main, provider: anthropic, api_key: k, models: ['own-*'${more}] }
models:
  - { id: own-b, type: chat, price: { input: 1, output: 2 } }
  - { id: own-a, type: chat }
  - { id: own-picture, type: image }
`;
  const { sluice, json, write } = createWorkplace(patterns(", 'other-*'"));
  const served = {
    channel: 'main',
    pattern: 'own-*',
    models: ['own-b', 'own-a'],
    unpriced: ['own-a'],
  };
  expect(await sluice('check')).toEqual({
    code: 0,
    out: "main: 'own-*' serves own-b, own-a\nmain: 'other-*' serves nothing\nsluice.yaml: ok\n",
    err:
      "warning: the pattern 'own-*' of channel 'main' matches models without a price, whose requests are refused: own-a\n" +
      "warning: the pattern 'other-*' of channel 'main' matches no model that the channel can serve\n",
  });
  write(patterns(''));
  expect(await json('check')).toMatchObject({ ok: true, patterns: [served] });
});

test.each([
  [{}, 'only its built-in demo, whose answers no model writes'],
  [
    { OPENAI_API_KEY: 'k' },
    'only the models of the providers whose keys are in the environment: openai',
  ],
])(
  'check of an empty file with %j in the environment says what it means',
  async (given, served) => {
    const { sluice } = createWorkplace('', given);
    expect(await sluice('check')).toEqual({
      code: 0,
      out: 'sluice.yaml: ok\n',
      err: `warning: no channels are declared, so the gateway serves ${served}\n`,
    });
  },
);

test('check without a file reports the defaults', async () => {
  const { sluice } = createWorkplace(null);
  expect(await sluice('check')).toMatchObject({
    code: 0,
    out: 'no file: the built-in defaults apply\n',
  });
  expect(await sluice('check', '--config', 'absent.yaml')).toMatchObject({
    code: 1,
    err: 'absent.yaml: expected a readable file, got no such file\n',
  });
});

test('plan changes nothing, not even on disk; apply does exactly what plan showed', async () => {
  const { sluice, folder } = createWorkplace(file, environment);
  const planned = await sluice('plan');
  expect(planned).toEqual({
    code: 0,
    out: "+ model 'fast'\n+ channel 'main'\n+ user 'ada@example.com'\n3 to create\n",
    err: '',
  });
  expect(existsSync(join(folder, 'data'))).toBe(false);
  expect(await sluice('apply')).toEqual({
    code: 0,
    out: "+ model 'fast'\n+ channel 'main'\n+ user 'ada@example.com'\n3 created\n",
    err: '',
  });
  expect(await sluice('plan')).toEqual({ code: 0, out: 'nothing to change\n', err: '' });
  expect(await sluice('apply')).toEqual({ code: 0, out: 'nothing to change\n', err: '' });
});

test('the data folder is for its owner only', async () => {
  const { sluice, folder } = createWorkplace(file, environment);
  await sluice('apply');
  expect(statSync(join(folder, 'data')).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, 'data/master.key')).mode & 0o777).toBe(0o600);
});

test('a plan shows fields, and for secrets only that they change', async () => {
  const { sluice, write } = createWorkplace(file, environment);
  await sluice('apply');
  write(file.replace('0.25', '0.5').replace('"${UPSTREAM}"', 'another-canary'));
  const { out } = await sluice('plan');
  expect(out).toBe(
    [
      "~ model 'fast'",
      '    price: {"input":"0.25","output":"2"} -> {"input":"0.5","output":"2"}',
      "~ channel 'main'",
      '    api_keys: changed',
      '2 to update\n',
    ].join('\n'),
  );
  const all = JSON.stringify([await sluice('plan', '--json'), await sluice('apply', '--json')]);
  expect(all).not.toContain('canary');
});

test('a price or a factor in another spelling is no change', async () => {
  const text = (input: string, factor: string) =>
    `${file.replace('0.25', input)}groups: [{ name: vip, price_multiplier: ${factor} }]\n`;
  const { sluice, write } = createWorkplace(text('0.20', '"1.50"'), environment);
  await sluice('apply');
  write(text('0.2', '1.5'));
  expect(await sluice('plan')).toMatchObject({ out: 'nothing to change\n' });
  write(text('".2"', '"1.500"'));
  expect(await sluice('plan')).toMatchObject({ out: 'nothing to change\n' });
  write(text('0.02', '1.5'));
  expect(await sluice('plan')).toMatchObject({ out: expect.stringContaining('1 to update\n') });
});

test('a bad file is not applied at all', async () => {
  const { sluice, write } = createWorkplace(file, environment);
  await sluice('apply');
  write(`${file}groups: [{ name: vip, price_multiplier: many }]\n`);
  const { code, err } = await sluice('apply');
  expect({ code, err }).toMatchObject({
    code: 1,
    err: expect.stringContaining('sluice.yaml:6: groups[0].price_multiplier'),
  });
  write(file);
  expect(await sluice('plan')).toMatchObject({ out: 'nothing to change\n' });
});

test('apply without a file fails', async () => {
  const { sluice } = createWorkplace(null);
  expect(await sluice('apply')).toMatchObject({
    code: 1,
    err: 'sluice: there is no configuration file to apply\n',
  });
});

test('check accepts an export, and plan finds nothing to change in it', async () => {
  const { sluice, write, json, folder } = createWorkplace(file, environment);
  await sluice('apply');
  const { out } = await sluice('export');
  expect(out).toContain('api_key: ${MAIN_API_KEY}');
  expect(out).not.toContain('canary');
  expect(await json('export')).toMatchObject({ channels: [{ name: 'main', models: ['fast'] }] });
  write(out);
  expect(await sluice('check')).toMatchObject({ code: 0 });
  expect(await sluice('plan')).toEqual({ code: 0, out: 'nothing to change\n', err: '' });
  expect(readFileSync(join(folder, 'data/sluice.db')).includes('canary')).toBe(false);
});

test('an export gives a reassigned name its present meaning', async () => {
  const declares = (id: string, more: string) =>
    `models: [{ id: ${id}, type: chat, price: { input: 1, output: 2 } }]\n${more}`;
  const { sluice, write, json } = createWorkplace(declares('gpt-5', ''));
  await sluice('apply');
  write(declares('fast', 'aliases: { gpt-5: fast }\n'));
  expect(await sluice('apply')).toMatchObject({ code: 0 });
  expect(await json('export')).toMatchObject({
    models: [{ id: 'fast' }],
    aliases: { 'gpt-5': 'fast' },
  });
  write((await sluice('export')).out);
  expect(await sluice('check')).toMatchObject({ code: 0 });
  expect(await sluice('plan')).toMatchObject({ out: 'nothing to change\n' });
});
