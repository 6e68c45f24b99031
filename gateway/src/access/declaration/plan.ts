import {
  type Declared,
  type DeclaredKind,
  type Kind,
  type KindName,
  kinds,
  parseEntry,
} from '#config/index.ts';
import { shortestDecimal } from '#config/decimal.ts';
import type { Owner } from '#database/index.ts';
import { compareFields, type FieldChange, fieldsOf } from './fields.ts';
import type { CurrentState } from './state.repository.ts';

export interface PlanStep {
  readonly kind: KindName;
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

/** Compares a file with the database. */
export function planDeclaration(
  declaredFile: Declared,
  state: CurrentState,
  {
    hashKey,
    takesOver = false,
  }: {
    /** To compare secrets that are only stored as hashes. */
    readonly hashKey: (secret: string) => string;
    /** Whether the file becomes the owner of what was created in the console. Default: false. */
    readonly takesOver?: boolean;
  },
): Plan {
  const conflicts: string[] = [
    ...missingUsers(declaredFile, state),
    ...sharedSecrets(declaredFile, state, hashKey),
  ];
  const steps: PlanStep[] = [];
  const disabledSteps: PlanStep[] = [];

  const fileHashes = new Map(
    declaredFile.keys.map(({ name, secret }) => [name, secret === null ? null : hashKey(secret)]),
  );
  for (const kind of Object.values(kinds)) {
    const fields = (entry: object, hash: string | null | undefined) =>
      fieldsOf(kind as Kind, entry as never, hash);
    const rows = new Map(rowsOf(kind, state).map((row) => [nameOf(kind, row), row]));
    const declaredByName = new Map(
      wantedEntries(kind, declaredFile, state).map((each) => [nameOf(kind, each), each]),
    );
    for (const [name, entry] of declaredByName) {
      const row = rows.get(name);
      if (row?.owner === 'console' && !takesOver) {
        conflicts.push(
          `${kind.name} '${name}' is declared in the file but was created in the console: rename one of them, or let the file have it with --take-over`,
        );
        continue;
      }
      const hash = state.keyHashes.get(name);
      const after = fields(entry, fileHashes.get(name) ?? hash);
      const before = row === undefined ? {} : { ...fields(row, hash), owner: row.owner };
      const changes = compareFields(
        before,
        row === undefined ? after : { ...after, owner: 'file' },
      );
      const action = row === undefined ? 'create' : 'update';
      if (row === undefined || changes.length > 0) {
        steps.push({ kind: kind.name, name, action, fields: changes });
      }
    }
    for (const [name, row] of rows) {
      if (row.owner !== 'file' || !row.enabled || declaredByName.has(name)) continue;
      if (typeof row.revokedAt === 'number') continue;
      disabledSteps.unshift({ kind: kind.name, name, action: 'disable', fields: [] });
    }
  }
  return { steps: [...steps, ...disabledSteps], conflicts, notes: notesOf(declaredFile, state) };
}

const rowsOf = ({ section }: Pick<DeclaredKind, 'section'>, state: CurrentState): readonly Row[] =>
  state[section];

/** What tells an entry from others of its kind. */
export const nameOf = ({ identity }: Pick<Kind, 'identity'>, entry: object): string =>
  String((entry as Readonly<Record<string, unknown>>)[identity]);

/** What a file wants of a kind. */
export function wantedEntries(
  { section }: Pick<DeclaredKind, 'section'>,
  declaredFile: Declared,
  state: CurrentState,
): readonly object[] {
  if (section === 'groups') return wantedGroups(declaredFile, state);
  if (section !== 'aliases') return declaredFile[section];
  return Object.entries(declaredFile.aliases).map(([name, model]) => ({ name, model }));
}

/** The group `default` stays when a file stops naming it: at its normal price. */
function wantedGroups(declaredFile: Declared, state: CurrentState): Declared['groups'] {
  const isNamed = declaredFile.groups.some(({ name }) => name === 'default');
  const current = state.groups.find(({ name }) => name === 'default');
  if (isNamed || current?.owner !== 'file') return declaredFile.groups;
  return [parseEntry(kinds.group, { name: 'default' }), ...declaredFile.groups];
}

/** References that the file alone cannot settle: the administrator is made at the first start, not by the file. */
function missingUsers(declaredFile: Declared, state: CurrentState): string[] {
  const knownEmails = new Set([...declaredFile.users, ...state.users].map(({ email }) => email));
  const members = declaredFile.teams.flatMap((team) =>
    team.members.map(({ user }) => ({ by: `team '${team.name}'`, user })),
  );
  const owners = declaredFile.keys.map((key) => ({ by: `key '${key.name}'`, user: key.user }));
  return [...members, ...owners]
    .filter(({ user }) => !knownEmails.has(user))
    .map(({ by, user }) => `${by} names user '${user}', who does not exist yet`);
}

/** A secret finds one key. A key keeps its secret after it left the file, so that its usage stays explained. */
function sharedSecrets(
  declaredFile: Declared,
  state: CurrentState,
  hashKey: (secret: string) => string,
): string[] {
  const holders = new Map([...state.keyHashes].map(([name, hash]) => [hash, name]));
  return declaredFile.keys.flatMap((key) => {
    const holder = key.secret === null ? undefined : holders.get(hashKey(key.secret));
    if (holder === undefined || holder === key.name) return [];
    return [`key '${key.name}' has the secret of key '${holder}': give it a new one`];
  });
}

function notesOf(declaredFile: Declared, state: CurrentState): string[] {
  const credit = (
    kind: 'user' | 'team',
    name: string,
    storedPrice: string | undefined,
    declaredPrice: string,
  ) =>
    storedPrice === undefined || shortestDecimal(declaredPrice) === storedPrice
      ? []
      : [
          `${kind} '${name}': the opening credit was booked when the ${kind} was created and stays; ` +
            `use 'sluice ${kind} credit' to correct a balance`,
        ];
  const users = new Map(state.users.map((user) => [user.email, user.balance]));
  const teams = new Map(state.teams.map((team) => [team.name, team.balance]));
  return [
    ...declaredFile.users.flatMap((user) =>
      credit('user', user.email, users.get(user.email), user.balance),
    ),
    ...declaredFile.teams.flatMap((team) =>
      credit('team', team.name, teams.get(team.name), team.balance),
    ),
    ...declaredFile.keys
      .filter((key) => key.secret === null && !state.keyHashes.has(key.name))
      .map((key) => `key '${key.name}' has no secret yet: 'sluice key create' gives it one`),
  ];
}
