import type { DeclaredKey } from '#config/index.ts';
import {
  type Command,
  type CommandInput,
  commonOptions,
  exitCode,
  printJson,
  UsageError,
} from './command.ts';
import { describeOptions } from './setting-problems.ts';
import type { Workspace } from './workspace.ts';

export const keyCreate: Command = {
  name: 'key create',
  description:
    'Only a hash of the secret is stored, so it cannot be shown again. A key that the file declares without a secret gets one and keeps its declared settings.',
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
    ...commonOptions,
  },
  positionals: [],
  async run(input, io) {
    const { loadCommandConfig, withWorkspace } = await import('./workspace.ts');
    const { createChange } = await import('#database/index.ts');
    const { createKey } = await import('#identity/index.ts');
    const { keyToJson } = await import('./key-json.ts');
    const { secret: _, ...settings } = await readSettings(input);
    const config = await loadCommandConfig(input, io);
    const { key, secret } = await withWorkspace(config, async (workspace) => {
      await checkNames(settings, workspace);
      return workspace.database.kysely.transaction().execute((trx) => {
        const { secrets } = workspace;
        return createKey(
          createChange(trx, { owner: 'console', secrets, now: Date.now() }),
          settings,
        );
      });
    });
    const { id, name, ...rest } = keyToJson(key);
    if (input.flag('json')) printJson(io, { id, name, key: secret, ...rest });
    else io.stdout(`key '${name}' of ${key.user}, shown only once:\n${secret}\n`);
    return exitCode.done;
  },
};

/** The options by the rules of the file; a mistake is told with the option's own name. */
async function readSettings(input: CommandInput): Promise<DeclaredKey> {
  const { ConfigError, parseKeySettings } = await import('#config/index.ts');
  try {
    return parseKeySettings({
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
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new UsageError(describeOptions(error.problems));
  }
}

/** @throws Error naming what does not exist. */
async function checkNames(
  key: Omit<DeclaredKey, 'secret'>,
  { database, secrets }: Workspace,
): Promise<void> {
  const { readState } = await import('#declaration/index.ts');
  const { bundledModelNames } = await import('./workspace.ts');
  const state = await readState(database.kysely, secrets);
  if (!state.users.some(({ email, enabled }) => enabled && email === key.user)) {
    throw new Error(`user '${key.user}' does not exist`);
  }
  if (key.team !== null && !state.teams.some(({ name, enabled }) => enabled && name === key.team)) {
    throw new Error(`team '${key.team}' does not exist`);
  }
  const isGroup = state.groups.some(({ name, enabled }) => enabled && name === key.group);
  if (!isGroup && key.group !== 'default') throw new Error(`group '${key.group}' does not exist`);
  const models = new Set([
    ...(await bundledModelNames()),
    ...state.models.map(({ id }) => id),
    ...state.aliases.filter(({ enabled }) => enabled).map(({ name }) => name),
  ]);
  const missing = key.models.find((model) => !models.has(model));
  if (missing !== undefined) throw new Error(`model '${missing}' does not exist`);
}
