import {
  disableKey,
  disableTeam,
  disableUser,
  upsertKey,
  upsertTeam,
  upsertUser,
} from '#identity/index.ts';
import {
  disableAlias,
  disableChannel,
  disableGroup,
  disableModel,
  listGroups,
  upsertAlias,
  upsertChannel,
  upsertGroup,
  upsertModel,
} from '#catalogue/index.ts';
import {
  type Declared,
  type DeclaredGroup,
  type KindName,
  kinds,
  parseEntry,
} from '#config/index.ts';
import { type Change, createChange } from '#database/index.ts';
import { nameOf, type Plan, planDeclaration, wantedEntries } from './plan.ts';
import { readStateFor } from './state.repository.ts';
import type { FileInForce } from './file-revisions.repository.ts';

/** The file is valid but does not fit what is in the database. Nothing was changed. */
export class DeclarationConflict extends Error {
  readonly conflicts: readonly string[];

  constructor(conflicts: readonly string[]) {
    super(conflicts.join('\n'));
    this.name = 'DeclarationConflict';
    this.conflicts = conflicts;
  }
}

/**
 * Makes the database what the file declares, within a transaction that holds the lock of the declaration: all of it
 * or nothing. Applying the same file again changes nothing. Gives what was done.
 * @param change its rows become the file's, whoever makes the change
 * @param takesOver whether entries of the same name that were created in the console become the file's too
 * @throws DeclarationConflict when an entry's name belongs to the console or a reference cannot be met.
 */
export async function applyDeclaration(
  { trx, secrets, now }: Change,
  declaredFile: Declared,
  takesOver: boolean,
): Promise<Plan> {
  const state = await readStateFor(declaredFile, trx, secrets);
  const hashKey = (secret: string) => secrets.hashKey(secret);
  const plan = planDeclaration(declaredFile, state, { hashKey, takesOver });
  if (plan.conflicts.length > 0) throw new DeclarationConflict(plan.conflicts);
  const change = createChange(trx, { owner: 'file', takesOver, secrets, now });
  const declaredByName = new Map(
    Object.values(kinds).map((kind) => [
      kind.name,
      new Map(
        wantedEntries(kind, declaredFile, state).map(
          (entry) => [nameOf(kind, entry), entry] as const,
        ),
      ),
    ]),
  );
  for (const { action, kind, name } of plan.steps) {
    if (action === 'disable') await disable[kind](change, name);
    else await (upsert[kind] as Of<unknown>)(change, declaredByName.get(kind)?.get(name));
  }
  return plan;
}

/** Creates the group `default`, which exists without any file; null if it exists. */
export async function createDefaultGroup(change: Change): Promise<DeclaredGroup | null> {
  const groups = await listGroups(change.trx);
  if (groups.some(({ name }) => name === 'default')) return null;
  const group = parseEntry(kinds.group, { name: 'default' });
  await upsertGroup(createChange(change.trx, { ...change, owner: 'system' }), group);
  return group;
}

type Of<Entry> = (change: Change, entry: Entry) => Promise<unknown>;

const upsert = {
  group: upsertGroup,
  model: upsertModel,
  alias: upsertAlias,
  channel: upsertChannel,
  user: upsertUser,
  team: upsertTeam,
  key: upsertKey,
} satisfies Record<KindName, Of<never>>;

const disable: Readonly<Record<KindName, Of<string>>> = {
  group: disableGroup,
  model: disableModel,
  alias: disableAlias,
  channel: disableChannel,
  user: disableUser,
  team: disableTeam,
  key: disableKey,
};

/** A node's file is an earlier one than the file in force, whose changes it would undo. */
export class EarlierFile extends DeclarationConflict {
  constructor(inForce: FileInForce) {
    super([earlierFile(inForce)]);
    this.name = 'EarlierFile';
  }
}

/** For people: what is in force instead, and what to do. */
export function earlierFile({ node, time }: FileInForce): string {
  const since = new Date(time).toISOString();
  return `an earlier file: ${node} has put another one in force since (${since}); bring this one up to date, or put it in force with sluice apply --take-over`;
}
