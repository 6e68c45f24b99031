import { kinds } from '#config/index.ts';
import { loadCommandConfig } from './command-config.ts';
import { type Command, commonOptions, exitCode, printJson } from './command.ts';
import { optionsOf, readOptions } from './member-options.ts';

const { user, ...members } = optionsOf(kinds.key);

export const keyCreate: Command = {
  name: 'key create',
  description:
    'Only a hash of the secret is stored, so it cannot be shown again. A key that the file declares without a secret\n' +
    'gets one and keeps its declared settings.',
  options: { ...(user && { user }), ...members, ...commonOptions },
  positionals: [],
  async run(input, io) {
    const { secret: _, ...settings } = readOptions(kinds.key, input);
    const config = await loadCommandConfig(input, io);
    const { commandActor, withPresentAdministration } = await import('./workspace.ts');
    const { createKey } = await import('#administration/index.ts');
    const { keyToJson } = await import('./key-json.ts');
    const { key, secret } = await withPresentAdministration(config, (administration) =>
      createKey(administration, commandActor(), settings),
    );
    const { id, name, ...rest } = keyToJson(key);
    if (input.flag('json')) printJson(io, { id, name, key: secret, ...rest });
    else io.stdout(`key '${name}' of ${key.user}, shown only once:\n${secret}\n`);
    return exitCode.done;
  },
};
