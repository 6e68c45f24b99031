import { loadCommandConfig } from './command-config.ts';
import { type Command, commonOptions, exitCode, printJson } from './command.ts';

export const keyRevoke: Command = {
  name: 'key revoke',
  description: 'KEY is a name or an id. The usage of the key stays on record.',
  options: commonOptions,
  positionals: ['KEY'],
  async run(input, io) {
    const config = await loadCommandConfig(input, io);
    const { commandActor, withPresentAdministration } = await import('./workspace.ts');
    const { revokeKey } = await import('#administration/index.ts');
    const [nameOrId = ''] = input.positionals;
    const { key, changed } = await withPresentAdministration(config, (administration) =>
      revokeKey(administration, commandActor(), nameOrId),
    );
    if (input.flag('json')) printJson(io, { id: key.id, name: key.name, revoked: true });
    else io.stdout(`key '${key.name}' ${changed ? 'is' : 'was already'} revoked\n`);
    return exitCode.done;
  },
};
