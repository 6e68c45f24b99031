import type { DeclaredChannel, DeclaredKey, DeclaredPrice } from '#config/index.ts';
import { formatDuration } from '#config/index.ts';
import { isPattern } from '#config/pattern.ts';
import { vendorFacts } from '#vendors/index.ts';
import { views } from './fields.ts';
import { compact, Placeholder, toFileText, toItemText } from './file-text.ts';
import { createVariableNames } from './variable-names.ts';
import type { CurrentState } from './state.repository.ts';

/**
 * The database as a configuration file that `check` accepts and that, applied to it, changes nothing. Secrets
 * are left out: API keys and header values become placeholders for environment variables, client keys come
 * without their secret. Entries that refer to something no longer there are left out too.
 */
export function exportState(state: CurrentState, bundledModels: ReadonlySet<string>): string {
  // The group `default` that the gateway made itself is there for every file.
  const groups = state.groups.filter((group) => group.enabled && group.owner !== 'system');
  const teams = state.teams.filter((team) => team.enabled);
  const models = new Set([...bundledModels, ...state.models.map(({ id }) => id)]);
  // A name is a model's or an alias's: what a file may not say twice is said as the gateway takes it.
  const inUse = state.models.filter(({ enabled, owner }) => enabled && owner !== 'system');
  const taken = new Set(inUse.map(({ id }) => id));
  const aliases = state.aliases.filter(
    ({ enabled, name, model }) => enabled && models.has(model) && !taken.has(name),
  );
  const aliasNames = new Set(aliases.map(({ name }) => name));
  const names = {
    groups: new Set(['default', ...groups.map(({ name }) => name)]),
    teams: new Set(teams.map(({ name }) => name)),
    models: new Set([
      ...models,
      ...aliases.map(({ name }) => name).filter((name) => !isPattern(name)),
    ]),
  };
  const file = {
    groups: groups.map((group) => ({ name: group.name, price_multiplier: group.priceMultiplier })),
    channels: exportChannels(state, names),
    models: state.models
      .filter(({ id }) => !aliasNames.has(id))
      .map((model) => {
        const { price: _, ...fields } = views.model(model);
        return compact({
          id: model.id,
          ...fields,
          enabled: unlessUsual(model.enabled, true),
          price: model.price === null ? null : exportPrice(model.price),
        });
      }),
    aliases: Object.fromEntries(aliases.map(({ name, model }) => [name, model])),
    users: state.users.map((user) => {
      const { name, role, groups: _, ...fields } = views.user(user);
      const enabled = unlessUsual(user.enabled, true);
      return {
        ...compact({ email: user.email, name, role, balance: user.balance, ...fields, enabled }),
        ...exportGroups(user, names),
      };
    }),
    teams: teams.map((team) => {
      const { enabled: _, groups: __, ...fields } = views.team(team);
      return {
        ...compact({
          name: team.name,
          balance: team.balance,
          ...fields,
          budget: compact(team.budget),
          members: team.members.map((member) => compact({ ...member })),
        }),
        ...exportGroups(team, names),
      };
    }),
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

/** An empty list says something: no group at all. */
function exportGroups({ groups }: { readonly groups: readonly string[] }, names: Names): object {
  if (groups.length === 1 && groups[0] === 'default') return {};
  return { groups: groups.filter((group) => names.groups.has(group)) };
}

function exportChannels(state: CurrentState, names: Names): object[] {
  const variables = createVariableNames();
  return state.channels.flatMap((channel) => {
    const groups = channel.groups.filter((group) => names.groups.has(group));
    if (groups.length === 0) return [];
    const models = channel.models.filter(({ name }) => isPattern(name) || names.models.has(name));
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
    const baseUrl = unlessUsual(channel.baseUrl, vendorFacts[channel.provider].baseUrl);
    const {
      provider,
      base_url,
      api_keys: _,
      ...fields
    } = views.channel({ ...channel, baseUrl, groups, models });
    const entry = compact({
      name: channel.name,
      provider,
      base_url,
      api_key: keys.length === 1 ? keys[0] : null,
      api_keys: keys.length > 1 ? keys : null,
      ...fields,
      proxy: exportedProxy(channel, variables),
      headers: Object.fromEntries(headers),
      timeouts: Object.fromEntries(
        Object.entries(channel.timeouts).map(([part, milliseconds]) => [
          snakeCase(part),
          formatDuration(milliseconds),
        ]),
      ),
      bills_after_cancel: unlessUsual(channel.billsAfterCancel, false),
      cache: unlessUsual(channel.cache, 'auto'),
      state: unlessUsual(channel.state, 'guarded'),
      enabled: unlessUsual(channel.enabled, true),
    });
    // The file must name them, even none.
    return [{ ...entry, models: fields['models'] }];
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
    .map(entryOf);
}

/** A key as an entry of the file's `keys`, without its secret. */
export function exportKey(key: ExportedKey): string {
  return toItemText(entryOf(key));
}

type ExportedKey = Omit<DeclaredKey, 'secret'>;

function entryOf(key: ExportedKey): Record<string, unknown> {
  const { secret: _, ...fields } = views.key(key, null);
  return compact({
    name: key.name,
    ...fields,
    conversion: unlessUsual(key.conversion, 'lenient'),
    cap_output: unlessUsual(key.capOutput, true),
    enabled: unlessUsual(key.enabled, true),
  });
}

/** Null, which a file leaves out, for what is so without being named. */
function unlessUsual<Value>(value: Value, usual: Value): Value | null {
  return value === usual ? null : value;
}

function exportPrice(price: DeclaredPrice): object {
  const parts = Object.entries(price).map(([part, value]) => [snakeCase(part), value as unknown]);
  const { tiers, imageTiers, videoTokens } = price;
  return {
    ...Object.fromEntries(parts),
    ...(tiers === undefined
      ? {}
      : {
          tiers: tiers.map((tier) =>
            Object.fromEntries(
              Object.entries(tier).map(([part, value]) => [snakeCase(part), value as unknown]),
            ),
          ),
        }),
    ...(imageTiers === undefined
      ? {}
      : {
          image_tiers: imageTiers.map((tier) => ({
            name: tier.name,
            max_pixels: tier.maxPixels,
            price: tier.price,
          })),
        }),
    ...(videoTokens === undefined
      ? {}
      : {
          video_tokens: Object.fromEntries(
            Object.entries(videoTokens).map(([resolution, { text, withVideo }]) => [
              resolution,
              { text, with_video: withVideo },
            ]),
          ),
        }),
  };
}

/** `cacheWrite1h` → `cache_write_1h`. */
function snakeCase(text: string): string {
  return text.replaceAll(/[A-Z]|\d{1,4}h$/g, (part) => `_${part.toLowerCase()}`);
}
