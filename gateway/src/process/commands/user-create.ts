import type { DeclaredUser } from '#config/index.ts';
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
    ...commonOptions,
  },
  positionals: ['EMAIL'],
  async run(input, io) {
    const { commandActor, loadCommandConfig, withAdministration } = await import('./workspace.ts');
    const { createUser } = await import('#administration/index.ts');
    const settings = await readSettings(input);
    const config = await loadCommandConfig(input, io);
    const { id, email, name, role, balance, quota } = await withAdministration(
      config,
      (administration) => createUser(administration, commandActor(), settings),
    );
    if (input.flag('json')) printJson(io, { id, email, name, role, balance, quota });
    else io.stdout(`user '${email}' created with a balance of ${balance} USD\n`);
    return exitCode.done;
  },
};

async function readSettings(input: CommandInput): Promise<DeclaredUser> {
  const { parseUserSettings } = await import('#config/index.ts');
  return readOptions(
    () =>
      parseUserSettings({
        email: input.positionals[0],
        name: input.text('name'),
        role: input.text('role'),
        balance: input.text('balance'),
        quota: input.text('quota'),
      }),
    { email: 'EMAIL' },
  );
}
