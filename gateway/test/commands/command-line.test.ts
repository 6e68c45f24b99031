import { expect, test } from 'vitest';
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
