import { adminKey } from '#config/index.ts';
import type { StoredAdminKey } from '#identity/index.ts';
import { loadCommandConfig } from './command-config.ts';
import { type Command, commonOptions, exitCode, printJson } from './command.ts';
import { optionsOf, readOptions } from './member-options.ts';

export const adminKeyCreate: Command = {
  name: 'admin-key create',
  description:
    'A program sends it as "authorization: Bearer sa-…" to /admin/v1. Only a hash of the secret is stored, so it cannot be\n' +
    'shown again. It ends after 90 days unless --expires-at says otherwise, at the latest after 366.',
  options: { ...optionsOf(adminKey), ...commonOptions },
  positionals: [],
  async run(input, io) {
    const settings = readOptions(adminKey, input);
    const config = await loadCommandConfig(input, io);
    const { commandActor, withPresentAdministration } = await import('./workspace.ts');
    const { createAdminKey } = await import('#administration/index.ts');
    const { key, secret } = await withPresentAdministration(config, (administration) =>
      createAdminKey(administration, commandActor(), settings),
    );
    const { id, name, ...rest } = adminKeyToJson(key);
    if (input.flag('json')) printJson(io, { id, name, key: secret, ...rest });
    else {
      io.stdout(`admin key '${name}' until ${rest.expires_at}, shown only once:\n${secret}\n`);
    }
    return exitCode.done;
  },
};

export const adminKeyList: Command = {
  name: 'admin-key list',
  description:
    'The latest first. A key is recognised by the first and last characters of its secret.',
  options: commonOptions,
  positionals: [],
  async run(input, io) {
    const config = await loadCommandConfig(input, io);
    const { withReadableWorkspace } = await import('./workspace.ts');
    const { listAdminKeys } = await import('#identity/index.ts');
    const keys = await withReadableWorkspace(config, ({ database }) =>
      listAdminKeys(database.kysely),
    );
    const rows = keys.map(adminKeyToJson);
    if (input.flag('json')) {
      printJson(io, rows);
      return exitCode.done;
    }
    const { formatTable } = await import('./text-table.ts');
    const heading = ['NAME', 'KEY', 'ROLE', 'MADE BY', 'LAST USED', 'EXPIRES', 'STATE'];
    const cells = rows.map((row) => [
      row.name,
      row.prefix,
      row.role,
      row.created_by ?? '(a command)',
      row.last_used_at ?? 'never',
      row.expires_at,
      row.state,
    ]);
    io.stdout(formatTable(heading, cells));
    return exitCode.done;
  },
};

export const adminKeyRevoke: Command = {
  name: 'admin-key revoke',
  description:
    'KEY is the name of a key in force, or an id. What programs did with it stays in the audit log.',
  options: commonOptions,
  positionals: ['KEY'],
  async run(input, io) {
    const config = await loadCommandConfig(input, io);
    const { commandActor, withPresentAdministration } = await import('./workspace.ts');
    const { revokeAdminKey } = await import('#administration/index.ts');
    const [reference = ''] = input.positionals;
    const { key, changed } = await withPresentAdministration(config, (administration) =>
      revokeAdminKey(administration, commandActor(), reference),
    );
    if (input.flag('json')) printJson(io, { id: key.id, name: key.name, revoked: true });
    else io.stdout(`admin key '${key.name}' ${changed ? 'is' : 'was already'} revoked\n`);
    return exitCode.done;
  },
};

/** An admin key as every command prints it with `--json`. */
function adminKeyToJson(key: StoredAdminKey) {
  const { id, name, prefix, role, ips, maker, createdAt, expiresAt, lastUsedAt, revokedAt } = key;
  const end = expiresAt > Date.now() ? 'active' : 'expired';
  return {
    id,
    name,
    prefix,
    role,
    ips,
    created_by: maker?.email ?? null,
    created_at: new Date(createdAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
    last_used_at: lastUsedAt === null ? null : new Date(lastUsedAt).toISOString(),
    state: revokedAt === null ? end : 'revoked',
  };
}
