import { kinds } from '#config/index.ts';
import type { StoredKey } from '#identity/index.ts';
import { administer, readDatabase } from './command-config.ts';
import {
  type Command,
  type CommandInput,
  commonOptions,
  printResult,
  UsageError,
} from './command.ts';
import { optionsOf, readOptions } from './member-options.ts';
import { tableOf } from './text-table.ts';

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
    const { key, secret } = await administer(input, io, async (administration, actor) => {
      const { createKey } = await import('#administration/index.ts');
      return createKey(administration, actor, settings);
    });
    const { id, name, ...rest } = keyToJson(key);
    const text = `key '${name}' of ${key.user}, shown only once:\n${secret}\n`;
    return printResult(input, io, { id, name, key: secret, ...rest }, text);
  },
};

export const keyList: Command = {
  name: 'key list',
  description: 'A key is recognised by the first and last characters of its secret.',
  options: {
    user: { type: 'string', value: 'EMAIL', help: 'only the keys of this user' },
    ...commonOptions,
  },
  positionals: [],
  async run(input, io) {
    const user = input.text('user');
    const { keys, isUnknown } = await readDatabase(input, io, async (workspace) => {
      const { listKeys } = await import('#administration/index.ts');
      const { findUserByEmail } = await import('#identity/index.ts');
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
    const table = tableOf(rows, {
      NAME: ({ name }) => name,
      KEY: ({ prefix }) => (prefix === '' ? '(no secret yet)' : prefix),
      USER: (row) => row.user,
      TEAM: ({ team }) => team ?? '',
      GROUP: ({ group }) => group,
      STATE: ({ enabled }) => (enabled ? 'enabled' : 'disabled'),
    });
    return printResult(input, io, rows, table);
  },
};

export const keyRotate: Command = {
  name: 'key rotate',
  description:
    'KEY is a name or an id. The settings, usage and spending of the key stay. The old secret keeps working during the\n' +
    'grace period; --grace 0s ends it within seconds. Only a hash of the new secret is stored, so it cannot be\n' +
    'shown again. Change a secret that is declared in the configuration file there.',
  options: {
    grace: {
      type: 'string',
      value: 'TIME',
      help: 'how long the old secret stays valid, such as 30m; default: 24h',
    },
    ...commonOptions,
  },
  positionals: ['KEY'],
  async run(input, io) {
    const grace = await readGrace(input);
    const [nameOrId = ''] = input.positionals;
    const { key, secret, previousUntil } = await administer(
      input,
      io,
      async (administration, actor) => {
        const { rotateKey } = await import('#administration/index.ts');
        return rotateKey(administration, actor, { key: nameOrId, grace });
      },
    );
    const until = previousUntil === null ? null : new Date(previousUntil).toISOString();
    const { id, name, ...rest } = keyToJson(key);
    const oldKeyState = until === null ? 'no longer valid' : `valid until ${until}`;
    const text = `key '${name}' of ${key.user}, shown only once:\n${secret}\nthe old secret is ${oldKeyState}\n`;
    const shown = { id, name, key: secret, ...rest, previous_valid_until: until };
    return printResult(input, io, shown, text);
  },
};

/** Milliseconds. */
async function readGrace(input: CommandInput): Promise<number> {
  const { graceRule, parseGrace, usualGrace } = await import('#administration/index.ts');
  const text = input.text('grace') ?? usualGrace;
  const grace = parseGrace(text);
  if (grace === null) {
    throw new UsageError(`--grace: expected ${graceRule}, got "${text}"`);
  }
  return grace;
}

export const keyRevoke: Command = {
  name: 'key revoke',
  description: 'KEY is a name or an id. The usage of the key stays on record.',
  options: commonOptions,
  positionals: ['KEY'],
  async run(input, io) {
    const [nameOrId = ''] = input.positionals;
    const { key, changed } = await administer(input, io, async (administration, actor) => {
      const { revokeKey } = await import('#administration/index.ts');
      return revokeKey(administration, actor, nameOrId);
    });
    const text = `key '${key.name}' ${changed ? 'is' : 'was already'} revoked\n`;
    return printResult(input, io, { id: key.id, name: key.name, revoked: true }, text);
  },
};

/** A key as every command prints it with `--json`. */
function keyToJson(key: StoredKey) {
  return {
    id: key.id,
    name: key.name,
    user: key.user,
    team: key.team,
    group: key.group,
    created_at: new Date(key.createdAt).toISOString(),
  };
}
