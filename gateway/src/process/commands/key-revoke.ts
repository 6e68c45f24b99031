import { type Command, commonOptions, exitCode, printJson } from './command.ts';

export const keyRevoke: Command = {
  name: 'key revoke',
  description: 'KEY is a name or an id. The usage of the key stays on record.',
  options: commonOptions,
  positionals: ['KEY'],
  async run(input, io) {
    const { loadCommandConfig, withWorkspace } = await import('./workspace.ts');
    const { createChange } = await import('#database/index.ts');
    const { findKey, revokeKey } = await import('#identity/index.ts');
    const config = await loadCommandConfig(input, io);
    const [nameOrId = ''] = input.positionals;
    const { key, changed } = await withWorkspace(config, ({ database, secrets }) =>
      database.kysely.transaction().execute(async (trx) => {
        const found = await findKey(trx, nameOrId);
        if (found === null) throw new Error(`key '${nameOrId}' does not exist`);
        const change = createChange(trx, { owner: 'console', secrets, now: Date.now() });
        return { key: found, changed: await revokeKey(change, found.name) };
      }),
    );
    if (input.flag('json')) printJson(io, { id: key.id, name: key.name, revoked: true });
    else io.stdout(`key '${key.name}' ${changed ? 'is' : 'was already'} revoked\n`);
    return exitCode.done;
  },
};
