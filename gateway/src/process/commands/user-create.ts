import type { DeclaredUser } from '#config/index.ts';
import { loadCommandConfig } from './command-config.ts';
import { type Command, type CommandInput, commonOptions, exitCode, printJson } from './command.ts';
import { readOptions } from './read-options.ts';

export const userCreate: Command = {
  name: 'user create',
  description: 'Create keys for the user with: sluice key create --user EMAIL --name NAME',
  options: {
    name: { type: 'string', value: 'NAME', help: 'the name to show' },
    role: {
      type: 'string',
      value: 'ROLE',
      help: 'member (default), viewer, billing, operator or admin',
    },
    balance: { type: 'string', value: 'USD', help: 'opening balance; default: 0' },
    quota: { type: 'string', value: 'USD', help: 'how much the user may spend in total' },
    group: {
      type: 'string',
      multiple: true,
      value: 'NAME',
      help: 'a group of which the user may make keys in the console; default: default',
    },
    ...commonOptions,
  },
  positionals: ['EMAIL'],
  async run(input, io) {
    const settings = await readSettings(input);
    const config = await loadCommandConfig(input, io);
    const { commandActor, withAdministration } = await import('./workspace.ts');
    const { createUser } = await import('#administration/index.ts');
    const { id, email, name, role, balance, quota, groups } = await withAdministration(
      config,
      (administration) => createUser(administration, commandActor(), settings),
    );
    if (input.flag('json')) printJson(io, { id, email, name, role, balance, quota, groups });
    else io.stdout(`user '${email}' created with a balance of ${balance} USD\n`);
    return exitCode.done;
  },
};

async function readSettings(input: CommandInput): Promise<DeclaredUser> {
  const { kinds, parseEntry } = await import('#config/index.ts');
  const groups = input.texts('group');
  return readOptions(
    () =>
      parseEntry(kinds.user, {
        email: input.positionals[0],
        name: input.text('name'),
        role: input.text('role'),
        balance: input.text('balance'),
        quota: input.text('quota'),
        ...(groups.length > 0 && { groups }),
      }),
    { email: 'EMAIL' },
  );
}
