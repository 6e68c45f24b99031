import {
  bundledAliases,
  bundledModels,
  listAliases,
  listGroups,
  listModels,
} from '#catalogue/index.ts';
import type { Names } from '#config/index.ts';
import type { Change } from '#database/index.ts';
import { listTeams, listUsers } from '#identity/index.ts';

/** Everything that an entry may name: what is enabled in the database, and what is bundled. */
export async function namesInForce({ trx }: Change): Promise<Names> {
  const enabled = <Entry extends { readonly enabled: boolean }>(entries: readonly Entry[]) =>
    entries.filter((entry) => entry.enabled);
  const [groups, users, teams, models, aliases] = [
    await listGroups(trx),
    await listUsers(trx),
    await listTeams(trx),
    await listModels(trx),
    await listAliases(trx),
  ];
  return {
    groups: new Set(['default', ...enabled(groups).map(({ name }) => name)]),
    users: new Set(enabled(users).map(({ email }) => email.toLowerCase())),
    teams: new Set(enabled(teams).map(({ name }) => name)),
    // A disabled model keeps its name.
    declaredModels: new Map(models.map(({ id, type }) => [id, type])),
    bundledModels: new Set(bundledModels.map(({ id }) => id)),
    bundledAliases: new Set(bundledAliases.keys()),
    aliases: new Map(enabled(aliases).map(({ name, model }) => [name, model])),
  };
}
