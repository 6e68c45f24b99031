import { type DeclaredChannel, type Kind, kinds } from '#config/index.ts';
import { isPattern } from '#config/pattern.ts';
import { vendorFacts } from '#vendors/index.ts';
import type { ShownOf } from './fields.ts';
import { Placeholder, toFileText, toItemText, createVariableNames } from './file-text.ts';
import type { CurrentState } from './state.repository.ts';

/**
 * The database as a configuration file that `check` accepts and that, applied to it, changes nothing. Secrets
 * are left out: API keys and header values become placeholders for environment variables, client keys come
 * without their secret. Entries that refer to something no longer there are left out too.
 */
export function exportState(state: CurrentState, bundledModels: ReadonlySet<string>): string {
  // The group `default` that the gateway made itself is there for every file.
  const groups = state.groups.filter((group) => group.owner !== 'system');
  const models = new Set([...bundledModels, ...state.models.map(({ id }) => id)]);
  // A name is a model's or an alias's: what a file may not say twice is said as the gateway takes it.
  const inUse = state.models.filter(({ enabled, owner }) => enabled && owner !== 'system');
  const modelNames = new Set(inUse.map(({ id }) => id));
  const aliases = state.aliases.filter(
    ({ enabled, name, model }) => enabled && models.has(model) && !modelNames.has(name),
  );
  const aliasNames = new Set(aliases.map(({ name }) => name));
  const names = {
    groups: new Set(['default', ...groups.map(({ name }) => name)]),
    teams: new Set(state.teams.map(({ name }) => name)),
    models: new Set([
      ...models,
      ...aliases.map(({ name }) => name).filter((name) => !isPattern(name)),
    ]),
  };
  const groupsIn = <Entry extends { readonly groups: readonly string[] }>(entry: Entry) => ({
    ...entry,
    groups: entry.groups.filter((group) => names.groups.has(group)),
  });
  const file = {
    groups: groups.map((group) => writeEntry(kinds.group, group)),
    channels: exportChannels(state.channels.map(groupsIn), names),
    models: state.models
      .filter(({ id }) => !aliasNames.has(id))
      .map((model) => writeEntry(kinds.model, model)),
    aliases: Object.fromEntries(aliases.map(({ name, model }) => [name, model])),
    users: state.users.map((user) => groupsLast(writeEntry(kinds.user, groupsIn(user)))),
    teams: state.teams.map((team) => groupsLast(writeEntry(kinds.team, groupsIn(team)))),
    keys: exportKeys(state, names),
  };
  return toFileText(
    'Written by sluice export. Secrets are not in here: set the variables named in ${…}.',
    file,
  );
}

interface Names {
  readonly groups: ReadonlySet<string>;
  readonly teams: ReadonlySet<string>;
  readonly models: ReadonlySet<string>;
}

/**
 * An entry as a file has it, without what is usual and without secrets.
 * @param absentValues by the members' names: what stands in the place of their values; null: nothing
 */
export function writeEntry<Of extends Kind>(
  { members, list }: Of,
  entry: ShownOf<Of>,
  absentValues: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const values = entry as Readonly<Record<string, unknown>>;
  const writtenMembers = new Map(
    list.map(({ name, property, write, usualValue, alwaysWritten, stored }) => {
      const value = values[property];
      const isLeftOut =
        stored === 'hash' ||
        value === undefined ||
        (alwaysWritten !== true && isSame(value, usualValue));
      const form = write as ((value: unknown) => unknown) | undefined;
      return [name, isLeftOut ? null : form === undefined ? value : form(value)];
    }),
  );
  return Object.fromEntries(
    Object.keys(members)
      .map(
        (name) =>
          [name, name in absentValues ? absentValues[name] : writtenMembers.get(name)] as const,
      )
      .filter(([, value]) => value !== null && value !== undefined),
  );
}

const isSame = (left: unknown, right: unknown) => JSON.stringify(left) === JSON.stringify(right);

const groupsLast = ({ groups, ...rest }: Record<string, unknown>) =>
  groups === undefined ? rest : { ...rest, groups };

function exportChannels(channels: CurrentState['channels'], names: Names): object[] {
  const variables = createVariableNames();
  return channels.flatMap((channel) => {
    if (channel.groups.length === 0) return [];
    const keys = channel.apiKeys.map(
      (_, index) =>
        new Placeholder(
          variables(
            channel.name,
            channel.apiKeys.length === 1 ? 'API_KEY' : `API_KEY_${index + 1}`,
          ),
        ),
    );
    const headers = Object.keys(channel.headers).map((header) => [
      header,
      new Placeholder(variables(channel.name, `HEADER_${header}`)),
    ]);
    const models = channel.models.filter(({ name }) => isPattern(name) || names.models.has(name));
    const isUsual = channel.baseUrl === vendorFacts[channel.provider].baseUrl;
    return [
      writeEntry(
        kinds.channel,
        { ...channel, models },
        {
          ...(isUsual && { base_url: null }),
          api_key: keys.length === 1 ? keys[0] : null,
          api_keys: keys.length > 1 ? keys : null,
          headers: headers.length > 0 ? Object.fromEntries(headers) : null,
          proxy: exportedProxy(channel, variables),
        },
      ),
    ];
  });
}

/** A proxy's credentials become a placeholder, together with its address. */
function exportedProxy(
  { name, proxy }: DeclaredChannel,
  variables: ReturnType<typeof createVariableNames>,
): string | Placeholder | null {
  const hasCredentials = proxy?.includes('@') === true;
  return hasCredentials ? new Placeholder(variables(name, 'PROXY')) : proxy;
}

/** An allowlist is never shortened, which could empty it and so allow everything: such a key is left out. */
function exportKeys(state: CurrentState, names: Names): object[] {
  return state.keys
    .filter((key) => key.revokedAt === null)
    .filter((key) => key.team === null || names.teams.has(key.team))
    .filter((key) => names.groups.has(key.group))
    .filter((key) => key.models.every((model) => names.models.has(model)))
    .map((key) => writeEntry(kinds.key, key));
}

/** A key as an entry of the file's `keys`, without its secret. */
export function exportKey(key: ShownOf<typeof kinds.key>): string {
  return toItemText(writeEntry(kinds.key, key));
}
