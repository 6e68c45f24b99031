import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { commandTable } from '#commands/table.ts';
import { createWorkplace } from './support.ts';

const ownHelp = new Set(['start', 'simulate']);

test.each(commandTable.filter(({ name }) => !ownHelp.has(name)))(
  '$name explains itself',
  async ({ name, summary }) => {
    const { code, out, err } = await createWorkplace(null).sluice(...name.split(' '), '--help');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(`sluice ${name}`);
    expect(out).toContain(summary);
    expect(out).toContain('--json');
    for (const line of out.split('\n')) expect(line.length).toBeLessThan(120);
  },
);

test('the overview lists every command', async () => {
  const { code, out } = await createWorkplace(null).sluice('--help');
  expect(code).toBe(0);
  for (const { name } of commandTable) expect(out).toContain(`  ${name} `);
});

test.each(['--version', '-v'])('%s names the program and its version', async (option) => {
  const { code, out, err } = await createWorkplace(null).sluice(option);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^sluice \d+\.\d+\.\d+\n$/);
});

test.each([
  [[], 'a command is required'],
  [['launch'], "unknown command 'launch'"],
  [['key'], "'key' needs one of: create, list, rotate, revoke"],
  [['key', 'forget'], "'key' needs one of: create, list, rotate, revoke"],
  [['check', '--strict'], "unknown option '--strict'"],
  [['check', 'a.yaml'], "unexpected argument 'a.yaml'"],
  [['check', '--config'], "option '--config <value>' argument missing"],
  [['key', 'revoke'], 'KEY is required'],
  [['key', 'create', '--user', 'a@b.c'], '--name is required'],
  [
    ['usage', '--from', 'yesterday'],
    '--from: expected a time with its zone such as 2027-01-01T00:00:00Z',
  ],
  [['usage', '--limit', '0'], '--limit: expected a whole number from 1 to 1000'],
] as const)('%j is a mistake in the command line', async (argv, message) => {
  const { code, out, err } = await createWorkplace(null).sluice(...argv);
  expect(err).toContain(message);
  expect({ code, out }).toEqual({ code: 2, out: '' });
});

const main = new URL('../../src/main.js', import.meta.url).pathname;

test('A reader that closes the pipe is no failure', async () => {
  const child = spawn(process.execPath, [main, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

const pretendNode = (version: string): string[] => {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  return ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`];
};

describe.each(['20.20.2', '22.20.0', '24.11.1'])('Node %s', (version) => {
  test('is refused as too old if npm brought no other', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-alone-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const alone = join(folder, 'main.mjs');
    copyFileSync(main, alone);
    const argv = [...pretendNode(version), alone, '-v'];
    const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^sluice needs Node 24\.12 or newer and this is [\d.]+\. .*\n$/);
    expect(stderr).toContain(version);
  });

  test('gives the command to the one that npm brought', () => {
    const argv = (...rest: string[]) => [...pretendNode(version), main, ...rest];
    const right = spawnSync(process.execPath, argv('-v'), { encoding: 'utf8' });
    expect(right).toMatchObject({ status: 0, stderr: '' });
    expect(right.stdout).toMatch(/^sluice /);
    const wrong = spawnSync(process.execPath, argv('nonsense'), { encoding: 'utf8' });
    expect(wrong).toMatchObject({ status: 2, stdout: '' });
  });
});
