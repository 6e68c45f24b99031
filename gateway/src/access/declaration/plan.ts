import type { Declared } from '#config/index.ts';
import type { Owner } from '#database/index.ts';
import { compareFields, type FieldChange, type Fields, views } from './fields.ts';
import type { CurrentState } from './state.repository.ts';

export type Kind = 'group' | 'model' | 'alias' | 'channel' | 'user' | 'team' | 'key';

export interface PlanStep {
  readonly kind: Kind;
  readonly name: string;
  readonly action: 'create' | 'update' | 'disable';
  /** Empty for `disable`. */
  readonly fields: readonly FieldChange[];
}

/** What applying a file would do. Pure data, without secrets: it may be printed. */
export interface Plan {
  /** In the order they are applied: what others refer to first, and what disappears last. */
  readonly steps: readonly PlanStep[];
  /** Reasons why the file cannot be applied at all. */
  readonly conflicts: readonly string[];
  /** What a reader may expect to happen, and why it does not. */
  readonly notes: readonly string[];
}

interface Row {
  readonly owner: Owner;
  readonly enabled: boolean;
  /** Keys only. */
  readonly revokedAt?: number | null;
}

/** Compares a file with the database. `hashKey` is needed to compare secrets that are only stored as hashes. */
export function planDeclaration(
  declared: Declared,
  state: CurrentState,
  hashKey: (secret: string) => string,
): Plan {
  const conflicts: string[] = [
    ...missingUsers(declared, state),
    ...sharedSecrets(declared, state, hashKey),
  ];
  const steps: PlanStep[] = [];
  const disabled: PlanStep[] = [];

  const compare = <Wanted, Stored extends Row>(
    kind: Kind,
    wanted: readonly Wanted[],
    stored: readonly Stored[],
    nameOf: (entry: Wanted | Stored) => string,
    wantedFields: (entry: Wanted) => Fields,
    storedFields: (entry: Stored) => Fields,
  ) => {
    const rows = new Map(stored.map((row) => [nameOf(row), row]));
    for (const entry of wanted) {
      const name = nameOf(entry);
      const row = rows.get(name);
      if (row?.owner === 'console') {
        conflicts.push(
          `${kind} '${name}' is declared in the file but was created in the console: rename one of them`,
        );
        continue;
      }
      const after = wantedFields(entry);
      if (row === undefined) {
        steps.push({ kind, name, action: 'create', fields: compareFields({}, after) });
        continue;
      }
      const fields = compareFields(
        { ...storedFields(row), owner: row.owner },
        { ...after, owner: 'file' },
      );
      if (fields.length > 0) steps.push({ kind, name, action: 'update', fields });
    }
    const names = new Set(wanted.map(nameOf));
    for (const [name, row] of rows) {
      if (row.owner !== 'file' || !row.enabled || names.has(name)) continue;
      if (typeof row.revokedAt === 'number') continue;
      disabled.unshift({ kind, name, action: 'disable', fields: [] });
    }
  };

  const byName = (entry: { readonly name: string }) => entry.name;
  const aliases = Object.entries(declared.aliases).map(([name, model]) => ({ name, model }));
  const keyHash = (secret: string | null) => (secret === null ? null : hashKey(secret));
  compare('group', wantedGroups(declared, state), state.groups, byName, views.group, (row) =>
    views.group(row, row),
  );
  compare('model', declared.models, state.models, (entry) => entry.id, views.model, views.model);
  compare('alias', aliases, state.aliases, byName, views.alias, (row) => views.alias(row, row));
  compare('channel', declared.channels, state.channels, byName, views.channel, views.channel);
  compare('user', declared.users, state.users, (entry) => entry.email, views.user, views.user);
  compare('team', declared.teams, state.teams, byName, views.team, (row) => views.team(row, row));
  const hashes = new Map(declared.keys.map((key) => [key.name, keyHash(key.secret)]));
  compare(
    'key',
    declared.keys,
    state.keys,
    byName,
    (key) => views.key(key, hashes.get(key.name) ?? state.keyHashes.get(key.name) ?? null),
    (key) => views.key(key, state.keyHashes.get(key.name) ?? null),
  );
  return { steps: [...steps, ...disabled], conflicts, notes: notesOf(declared, state) };
}

/** The group `default` stays when a file stops naming it: at its normal price. */
export function wantedGroups(declared: Declared, state: CurrentState): Declared['groups'] {
  const isNamed = declared.groups.some(({ name }) => name === 'default');
  const current = state.groups.find(({ name }) => name === 'default');
  if (isNamed || current?.owner !== 'file') return declared.groups;
  return [{ name: 'default', priceMultiplier: '1' }, ...declared.groups];
}

/** References that the file alone cannot settle: the administrator is made at the first start, not by the file. */
function missingUsers(declared: Declared, state: CurrentState): string[] {
  const known = new Set([...declared.users, ...state.users].map(({ email }) => email));
  const members = declared.teams.flatMap((team) =>
    team.members.map(({ user }) => ({ by: `team '${team.name}'`, user })),
  );
  const owners = declared.keys.map((key) => ({ by: `key '${key.name}'`, user: key.user }));
  return [...members, ...owners]
    .filter(({ user }) => !known.has(user))
    .map(({ by, user }) => `${by} names user '${user}', who does not exist yet`);
}

/** A secret finds one key. A key keeps its secret after it left the file, so that its usage stays explained. */
function sharedSecrets(
  declared: Declared,
  state: CurrentState,
  hashKey: (secret: string) => string,
): string[] {
  const holders = new Map([...state.keyHashes].map(([name, hash]) => [hash, name]));
  return declared.keys.flatMap((key) => {
    const holder = key.secret === null ? undefined : holders.get(hashKey(key.secret));
    if (holder === undefined || holder === key.name) return [];
    return [`key '${key.name}' has the secret of key '${holder}': give it a new one`];
  });
}

function notesOf(declared: Declared, state: CurrentState): string[] {
  const credit = (
    kind: 'user' | 'team',
    name: string,
    stored: string | undefined,
    wanted: string,
  ) =>
    stored === undefined || views.money(wanted) === stored
      ? []
      : [
          `${kind} '${name}': the opening credit was booked when the ${kind} was created and stays; ` +
            `use 'sluice ${kind} credit' to correct a balance`,
        ];
  const users = new Map(state.users.map((user) => [user.email, user.balance]));
  const teams = new Map(state.teams.map((team) => [team.name, team.balance]));
  return [
    ...declared.users.flatMap((user) =>
      credit('user', user.email, users.get(user.email), user.balance),
    ),
    ...declared.teams.flatMap((team) =>
      credit('team', team.name, teams.get(team.name), team.balance),
    ),
    ...declared.keys
      .filter((key) => key.secret === null && !state.keyHashes.has(key.name))
      .map((key) => `key '${key.name}' has no secret yet: 'sluice key create' gives it one`),
  ];
}
