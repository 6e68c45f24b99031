import { adminKey } from '#config/index.ts';
import type { StoredAdminKey } from '#identity/index.ts';
import { administer, readDatabase } from './command-config.ts';
import { type Command, commonOptions, printResult } from './command.ts';
import { optionsOf, readOptions } from './member-options.ts';
import { tableOf } from './text-table.ts';

export const adminKeyCreate: Command = {
  name: 'admin-key create',
  description:
    'A program sends it as "authorization: Bearer sa-…" to /admin/v1. Only a hash of the secret is stored, so it cannot be\n' +
    'shown again. It ends after 90 days unless --expires-at says otherwise, at the latest after 366.',
  options: { ...optionsOf(adminKey), ...commonOptions },
  positionals: [],
  async run(input, io) {
    const settings = readOptions(adminKey, input);
    const { key, secret } = await administer(input, io, async (administration, actor) => {
      const { createAdminKey } = await import('#administration/index.ts');
      return createAdminKey(administration, actor, settings);
    });
    const { id, name, ...rest } = adminKeyToJson(key);
    const text = `admin key '${name}' until ${rest.expires_at}, shown only once:\n${secret}\n`;
    return printResult(input, io, { id, name, key: secret, ...rest }, text);
  },
};

export const adminKeyList: Command = {
  name: 'admin-key list',
  description:
    'The latest first. A key is recognised by the first and last characters of its secret.',
  options: commonOptions,
  positionals: [],
  async run(input, io) {
    const keys = await readDatabase(input, io, async ({ database }) => {
      const { listAdminKeys } = await import('#identity/index.ts');
      return listAdminKeys(database.kysely);
    });
    const rows = keys.map(adminKeyToJson);
    const table = tableOf(rows, {
      NAME: ({ name }) => name,
      KEY: ({ prefix }) => prefix,
      ROLE: ({ role }) => role,
      'MADE BY': ({ created_by }) => created_by ?? '(a command)',
      'LAST USED': ({ last_used_at }) => last_used_at ?? 'never',
      EXPIRES: ({ expires_at }) => expires_at,
      STATE: ({ state }) => state,
    });
    return printResult(input, io, rows, table);
  },
};

export const adminKeyRevoke: Command = {
  name: 'admin-key revoke',
  description:
    'KEY is the name of a key in force, or an id. What programs did with it stays in the audit log.',
  options: commonOptions,
  positionals: ['KEY'],
  async run(input, io) {
    const [reference = ''] = input.positionals;
    const { key, changed } = await administer(input, io, async (administration, actor) => {
      const { revokeAdminKey } = await import('#administration/index.ts');
      return revokeAdminKey(administration, actor, reference);
    });
    const text = `admin key '${key.name}' ${changed ? 'is' : 'was already'} revoked\n`;
    return printResult(input, io, { id: key.id, name: key.name, revoked: true }, text);
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
