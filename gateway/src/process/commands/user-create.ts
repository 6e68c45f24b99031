import { kinds } from '#config/index.ts';
import { loadCommandConfig } from './command-config.ts';
import { type Command, commonOptions, exitCode, printJson } from './command.ts';
import { optionsOf, readOptions } from './member-options.ts';

export const userCreate: Command = {
  name: 'user create',
  description: 'Create keys for the user with: sluice key create --user EMAIL --name NAME',
  options: { ...optionsOf(kinds.user), ...commonOptions },
  positionals: ['EMAIL'],
  async run(input, io) {
    const settings = readOptions(kinds.user, input, { email: 'EMAIL' });
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
