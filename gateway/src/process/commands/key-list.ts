import { loadCommandConfig } from './command-config.ts';
import { type Command, commonOptions, exitCode, printJson } from './command.ts';

export const keyList: Command = {
  name: 'key list',
  description: 'A key is recognised by the first and last characters of its secret.',
  options: {
    user: { type: 'string', value: 'EMAIL', help: 'only the keys of this user' },
    ...commonOptions,
  },
  positionals: [],
  async run(input, io) {
    const config = await loadCommandConfig(input, io);
    const { withReadableWorkspace } = await import('./workspace.ts');
    const { listKeys } = await import('#administration/index.ts');
    const { findUserByEmail } = await import('#identity/index.ts');
    const { keyToJson } = await import('./key-json.ts');
    const { formatTable } = await import('./text-table.ts');
    const user = input.text('user');
    const { keys, isUnknown } = await withReadableWorkspace(config, async (workspace) => {
      const keys = await listKeys(workspace, user === undefined ? {} : { user });
      const isUnknown =
        user !== undefined &&
        keys.length === 0 &&
        (await findUserByEmail(workspace.database.kysely, user)) === null;
      return { keys, isUnknown };
    });
    // A typing error must not look like a user without keys.
    if (isUnknown) io.stderr(`note: there is no user '${user}'\n`);
    const rows = keys.map((key) => ({
      ...keyToJson(key),
      prefix: key.prefix,
      enabled: key.enabled && key.revokedAt === null,
    }));
    if (input.flag('json')) {
      printJson(io, rows);
      return exitCode.done;
    }
    const heading = ['NAME', 'KEY', 'USER', 'TEAM', 'GROUP', 'STATE'];
    const cells = rows.map((row) => [
      row.name,
      row.prefix === '' ? '(no secret yet)' : row.prefix,
      row.user,
      row.team ?? '',
      row.group,
      row.enabled ? 'enabled' : 'disabled',
    ]);
    io.stdout(formatTable(heading, cells));
    return exitCode.done;
  },
};
