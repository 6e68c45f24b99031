import { kinds } from '#config/index.ts';
import { loadCommandConfig } from './command-config.ts';
import {
  type Command,
  commonOptions,
  exitCode,
  printJson,
  type CommandInput,
  UsageError,
} from './command.ts';
import { optionsOf, readOptions } from './member-options.ts';
import type { StoredKey } from '#identity/index.ts';

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
    const { key, secret } = await withPresentAdministration(config, (administration) =>
      createKey(administration, commandActor(), settings),
    );
    const { id, name, ...rest } = keyToJson(key);
    if (input.flag('json')) printJson(io, { id, name, key: secret, ...rest });
    else io.stdout(`key '${name}' of ${key.user}, shown only once:\n${secret}\n`);
    return exitCode.done;
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
    const config = await loadCommandConfig(input, io);
    const { withReadableWorkspace } = await import('./workspace.ts');
    const { listKeys } = await import('#administration/index.ts');
    const { findUserByEmail } = await import('#identity/index.ts');
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
    const config = await loadCommandConfig(input, io);
    const { commandActor, withPresentAdministration } = await import('./workspace.ts');
    const { rotateKey } = await import('#administration/index.ts');
    const [nameOrId = ''] = input.positionals;
    const { key, secret, previousUntil } = await withPresentAdministration(
      config,
      (administration) => rotateKey(administration, commandActor(), { key: nameOrId, grace }),
    );
    const until = previousUntil === null ? null : new Date(previousUntil).toISOString();
    const { id, name, ...rest } = keyToJson(key);
    if (input.flag('json')) {
      printJson(io, { id, name, key: secret, ...rest, previous_valid_until: until });
    } else {
      const oldKeyState = until === null ? 'no longer valid' : `valid until ${until}`;
      io.stdout(
        `key '${name}' of ${key.user}, shown only once:\n${secret}\nthe old secret is ${oldKeyState}\n`,
      );
    }
    return exitCode.done;
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
