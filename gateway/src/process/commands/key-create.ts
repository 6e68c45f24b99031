import type { DeclaredKey } from '#config/index.ts';
import { loadCommandConfig } from './command-config.ts';
import { type Command, type CommandInput, commonOptions, exitCode, printJson } from './command.ts';
import { readOptions } from './read-options.ts';

export const keyCreate: Command = {
  name: 'key create',
  description:
    'Only a hash of the secret is stored, so it cannot be shown again. A key that the file declares without a secret\n' +
    'gets one and keeps its declared settings.',
  options: {
    user: { type: 'string', value: 'EMAIL', help: 'the owner of the key', required: true },
    name: { type: 'string', value: 'NAME', help: 'a unique name', required: true },
    team: { type: 'string', value: 'NAME', help: 'the team it acts for' },
    group: {
      type: 'string',
      value: 'NAME',
      help: 'the group of channels it may use; default: default',
    },
    model: {
      type: 'string',
      value: 'NAME',
      help: 'a model it may use; default: all',
      multiple: true,
    },
    quota: { type: 'string', value: 'USD', help: 'how much it may spend in total' },
    'expires-at': { type: 'string', value: 'TIME', help: 'for example 2027-01-01T00:00:00Z' },
    ip: { type: 'string', value: 'CIDR', help: 'an address it may be used from', multiple: true },
    rpm: { type: 'string', value: 'N', help: 'requests per minute' },
    rph: { type: 'string', value: 'N', help: 'requests per hour' },
    'max-concurrency': { type: 'string', value: 'N', help: 'concurrent requests' },
    conversion: { type: 'string', value: 'MODE', help: 'lenient (default) or strict' },
    'no-cap-output': {
      type: 'boolean',
      help: 'never lower the output limit of its requests when little money is left',
    },
    ...commonOptions,
  },
  positionals: [],
  async run(input, io) {
    const { secret: _, ...settings } = await readSettings(input);
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

async function readSettings(input: CommandInput): Promise<DeclaredKey> {
  const { kinds, parseEntry } = await import('#config/index.ts');
  return readOptions(() =>
    parseEntry(kinds.key, {
      name: input.text('name'),
      user: input.text('user'),
      team: input.text('team'),
      group: input.text('group'),
      models: input.texts('model'),
      quota: input.text('quota'),
      expires_at: input.text('expires-at'),
      ips: input.texts('ip'),
      rpm: input.text('rpm'),
      rph: input.text('rph'),
      max_concurrency: input.text('max-concurrency'),
      conversion: input.text('conversion'),
      cap_output: input.flag('no-cap-output') ? 'false' : undefined,
    }),
  );
}
