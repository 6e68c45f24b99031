import {
  bundledAliases,
  bundledModels,
  listAliases,
  listGroups,
  listModels,
} from '#catalogue/index.ts';
import type { Kind, KindName } from '#config/index.ts';
import type { Change } from '#database/index.ts';
import { findUserByEmail, listTeams } from '#identity/index.ts';
import { missingObject } from './refusal.ts';

/** Checks that what the members of an entry name exists. @throws Refusal naming the first that does not */
export async function checkNames(change: Change, { list }: Kind, entry: object): Promise<void> {
  const values = entry as Readonly<Record<string, string | readonly string[] | null>>;
  for (const { property, refersTo } of list) {
    const names = [values[property] ?? []].flat();
    if (refersTo === undefined || names.length === 0) continue;
    const existingNames = await knownNames(change, refersTo, names);
    const unknown = names.find((name) => !existingNames.has(name));
    if (unknown !== undefined) throw missingObject(refersTo, unknown);
  }
}

/** Those that an entry may name: enabled ones, and models even if they are not. */
async function knownNames(
  { trx }: Change,
  kind: KindName,
  requestedNames: readonly string[],
): Promise<ReadonlySet<string>> {
  if (kind === 'user') {
    const users = await Promise.all(requestedNames.map((email) => findUserByEmail(trx, email)));
    return new Set(requestedNames.filter((_, index) => users[index]?.enabled === true));
  }
  if (kind === 'team') return enabledNames(await listTeams(trx));
  if (kind === 'group') return new Set(['default', ...enabledNames(await listGroups(trx))]);
  return new Set([
    ...bundledModels.map(({ id }) => id),
    ...bundledAliases.keys(),
    ...(await listModels(trx)).map(({ id }) => id),
    ...enabledNames(await listAliases(trx)),
  ]);
}

const enabledNames = (
  entries: readonly { readonly name: string; readonly enabled: boolean }[],
): ReadonlySet<string> => new Set(entries.filter(({ enabled }) => enabled).map(({ name }) => name));
