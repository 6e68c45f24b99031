import {
  bundledModels,
  disableAlias,
  listAliases,
  listGroups,
  listModels,
  type StoredAlias,
  type StoredGroup,
  type StoredModel,
  upsertAlias,
  upsertGroup,
  upsertModel,
} from '#catalogue/index.ts';
import { kinds, readAlias } from '#config/index.ts';
import { compareFields, fieldsOf } from '#declaration/index.ts';
import type { Actor } from './audit.ts';
import { changeEntry, createEntry, type EntryChange, type EntryStore } from './entries.ts';
import { namesInForce } from './names-in-force.ts';
import { type Administration, perform } from './perform.ts';
import { missingObject, Refusal, Stale } from './refusal.ts';

/** Models that the console manages. */
export const modelStore: EntryStore<typeof kinds.model, StoredModel> = {
  kind: kinds.model,
  find: async ({ trx }, id) => (await listModels(trx)).find((model) => model.id === id) ?? null,
  upsert: upsertModel,
};

/** Groups that the console manages: a group's name is its id. */
export const groupStore: EntryStore<typeof kinds.group, StoredGroup & { readonly id: string }> = {
  kind: kinds.group,
  async find({ trx }, name) {
    const group = (await listGroups(trx)).find((one) => one.name === name);
    return group === undefined ? null : { ...group, id: name };
  },
  upsert: upsertGroup,
};

/**
 * Changes a model. A bundled one that nobody declared has the revision 0: its change is an entry that overrides it, and
 * members that the entry lacks stay as bundled.
 * @throws as `changeEntry`
 */
export function changeModel(
  administration: Administration,
  actor: Actor,
  change: EntryChange,
): Promise<StoredModel> {
  const bundled = bundledModels.find(({ id }) => id === change.id);
  const changed = () => changeEntry(administration, actor, modelStore, change);
  if (bundled === undefined || change.revision !== 0) return changed();
  const members = { type: bundled.type, ...change.members, id: bundled.id };
  return createEntry(administration, actor, modelStore, members).catch((error: unknown) => {
    // Somebody else has overridden it meanwhile.
    if (error instanceof Refusal && error.reason === 'taken') return changed();
    throw error;
  });
}

/**
 * Makes an alias, or leads it to another model.
 * @param revision as it was seen; null: it is to be a new one
 * @throws Refusal for one that the file has, or that exists already; Stale; ConfigError for a model that does not exist
 */
export function putAlias(
  administration: Administration,
  actor: Actor,
  { name, model, revision }: AliasChange & { readonly model: string },
): Promise<StoredAlias> {
  return perform(administration, actor, async (change) => {
    const before = (await listAliases(change.trx)).find((alias) => alias.name === name);
    assertSeen(before?.enabled === true ? before : undefined, { name, revision });
    const entry = readAlias(name, model, await namesInForce(change));
    await upsertAlias(change, entry);
    const result = (await listAliases(change.trx)).find((alias) => alias.name === name);
    if (result === undefined) throw missingObject('alias', name);
    const fields = compareFields(
      before?.enabled === true ? fieldsOf(kinds.alias, before) : {},
      fieldsOf(kinds.alias, result),
    );
    const action = revision === null ? 'create' : 'update';
    const subject = { kind: 'alias', name } as const;
    return { result, auditEntries: fields.length === 0 ? [] : [{ action, subject, fields }] };
  });
}

/** Takes an alias away. @throws Refusal for one that does not exist or is the file's; Stale */
export function removeAlias(
  administration: Administration,
  actor: Actor,
  { name, revision }: AliasChange,
): Promise<void> {
  return perform(administration, actor, async (change) => {
    const before = (await listAliases(change.trx)).find(
      (alias) => alias.name === name && alias.enabled,
    );
    if (before === undefined) throw missingObject('alias', name);
    assertSeen(before, { name, revision });
    await disableAlias(change, name);
    const subject = { kind: 'alias', name } as const;
    return { result: undefined, auditEntries: [{ action: 'disable', subject, fields: [] }] };
  });
}

/** An alias as it was seen. */
export interface AliasChange {
  readonly name: string;
  readonly revision: number | null;
}

function assertSeen(before: StoredAlias | undefined, { name, revision }: AliasChange): void {
  if (before?.owner === 'file') {
    const message = `alias '${name}' is managed in the configuration file`;
    throw new Refusal('managed-elsewhere', message);
  }
  if (before === undefined && revision !== null) throw missingObject('alias', name);
  if (before !== undefined && before.revision !== revision) throw new Stale('alias', name, before);
}
