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
import type { Declared, DeclaredGroup } from '#config/index.ts';
import { type Change, createChange } from '#database/index.ts';
import { type Kind, type Plan, planDeclaration, type PlanStep, wantedGroups } from './plan.ts';
import { type CurrentState, readStateFor } from './state.repository.ts';

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
 * @throws DeclarationConflict when an entry's name belongs to the console or a reference cannot be met.
 */
export async function applyDeclaration(
  { trx, secrets, now }: Change,
  declared: Declared,
): Promise<Plan> {
  const state = await readStateFor(declared, trx, secrets);
  const plan = planDeclaration(declared, state, (secret) => secrets.hashKey(secret));
  if (plan.conflicts.length > 0) throw new DeclarationConflict(plan.conflicts);
  const change = createChange(trx, { owner: 'file', secrets, now });
  const upserts = createUpserts(declared, state, change);
  for (const step of plan.steps) await applyStep(step, upserts, change);
  return plan;
}

/** Creates the group `default`, which exists without any file; null if it exists. */
export async function createDefaultGroup(change: Change): Promise<DeclaredGroup | null> {
  const groups = await listGroups(change.trx);
  if (groups.some(({ name }) => name === 'default')) return null;
  const group = { name: 'default', priceMultiplier: '1' };
  await upsertGroup(createChange(change.trx, { ...change, owner: 'system' }), group);
  return group;
}

type Upserts = Readonly<Record<Kind, ReadonlyMap<string, () => Promise<unknown>>>>;

function createUpserts(declared: Declared, state: CurrentState, change: Change): Upserts {
  const each = <Entry>(
    entries: readonly Entry[],
    nameOf: (entry: Entry) => string,
    upsert: (change: Change, entry: Entry) => Promise<unknown>,
  ) => new Map(entries.map((entry) => [nameOf(entry), () => upsert(change, entry)]));
  const byName = (entry: { readonly name: string }) => entry.name;
  const aliases = Object.entries(declared.aliases).map(([name, model]) => ({ name, model }));
  return {
    group: each(wantedGroups(declared, state), byName, upsertGroup),
    model: each(declared.models, (entry) => entry.id, upsertModel),
    alias: each(aliases, byName, upsertAlias),
    channel: each(declared.channels, byName, upsertChannel),
    user: each(declared.users, (entry) => entry.email, upsertUser),
    team: each(declared.teams, byName, upsertTeam),
    key: each(declared.keys, byName, upsertKey),
  };
}

const disable: Readonly<Record<Kind, (change: Change, name: string) => Promise<unknown>>> = {
  group: disableGroup,
  model: disableModel,
  alias: disableAlias,
  channel: disableChannel,
  user: disableUser,
  team: disableTeam,
  key: disableKey,
};

async function applyStep(step: PlanStep, upserts: Upserts, change: Change): Promise<void> {
  if (step.action === 'disable') {
    await disable[step.kind](change, step.name);
    return;
  }
  await upserts[step.kind].get(step.name)?.();
}
