import {
  bundledAliases,
  bundledModels,
  listAliases,
  listGroups,
  listModels,
} from '#catalogue/index.ts';
import type { Kind, KindName, Names } from '#config/index.ts';
import type { Change } from '#database/index.ts';
import { enabledNames } from '#identity/index.ts';
import { missingObject } from './refusal.ts';

/** Everything that an entry may name: what is enabled in the database, and what is bundled. */
export async function namesInForce({ trx }: Change): Promise<Names> {
  const enabled = <Entry extends { readonly enabled: boolean }>(entries: readonly Entry[]) =>
    entries.filter((entry) => entry.enabled);
  const [groups, users, teams, models, aliases] = [
    await listGroups(trx),
    await enabledNames(trx, 'users'),
    await enabledNames(trx, 'teams'),
    await listModels(trx),
    await listAliases(trx),
  ];
  return {
    groups: new Set(['default', ...enabled(groups).map(({ name }) => name)]),
    users: new Set(users.map((email) => email.toLowerCase())),
    teams: new Set(teams),
    // A disabled model keeps its name.
    declaredModels: new Map(models.map(({ id, type }) => [id, type])),
    bundledModels: new Set(bundledModels.map(({ id }) => id)),
    bundledAliases: new Set(bundledAliases.keys()),
    aliases: new Map(enabled(aliases).map(({ name, model }) => [name, model])),
  };
}

type Values = Readonly<Record<string, string | readonly string[] | null>>;

/**
 * Checks that what the members of an entry name exists.
 * @param before the entry before a change, which is not to blame for what it named already
 * @throws Refusal naming the first that does not exist
 */
export async function checkNames(
  change: Change,
  { list }: Kind,
  entry: object,
  before: object = {},
): Promise<void> {
  const [values, earlier] = [entry as Values, before as Values];
  const names = await namesInForce(change);
  for (const { property, refersTo } of list) {
    if (refersTo === undefined) continue;
    const kept = [earlier[property] ?? []].flat();
    const unknown = [values[property] ?? []]
      .flat()
      .find((name) => !kept.includes(name) && !isKnown(refersTo, name, names));
    if (unknown !== undefined) throw missingObject(refersTo, unknown);
  }
}

function isKnown(kind: KindName, name: string, names: Names): boolean {
  if (kind === 'user') return names.users.has(name.trim().toLowerCase());
  if (kind === 'team') return names.teams.has(name);
  if (kind === 'group') return names.groups.has(name);
  const { declaredModels, bundledModels, aliases, bundledAliases } = names;
  return [declaredModels, bundledModels, aliases, bundledAliases].some((all) => all.has(name));
}
