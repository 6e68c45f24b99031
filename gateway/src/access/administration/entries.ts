import {
  ConfigError,
  type EntryOf,
  type JsonMembers,
  type Kind,
  type Names,
  readEntry,
} from '#config/index.ts';
import type { Change, Owner } from '#database/index.ts';
import { compareFields, fieldsOf, type ShownOf, writeEntry } from '#declaration/index.ts';
import { keepCall, type RepeatableCall } from '#identity/index.ts';
import type { Action, Actor, AuditEntry } from './audit.ts';
import { namesInForce } from './names-in-force.ts';
import { type Administration, perform } from './perform.ts';
import { missingObject, Refusal, Stale, takenName } from './refusal.ts';
import { repeatedObject } from './repetition.ts';

/*
 * Entries that the console makes and changes, by the rules of the file. What a kind has of its own stands in its
 * `EntryStore`.
 */

/** What every stored entry has. */
export interface Found {
  readonly id: string;
  readonly owner: Owner;
  /** Grows with every change. */
  readonly revision: number;
}

/** Where the entries of a kind are found. */
export interface EntrySource<Of extends Kind, Stored extends Found & ShownOf<Of>> {
  readonly kind: Of;
  /** @param reference an id, otherwise a name; disabled ones are found too. Null: there is none */
  find(change: Pick<Change, 'trx' | 'secrets'>, reference: string): Promise<Stored | null>;
}

/** Where the entries of a kind are, and what is special about them. */
export interface EntryStore<
  Of extends Kind,
  Stored extends Found & ShownOf<Of>,
> extends EntrySource<Of, Stored> {
  upsert(change: Change, entry: EntryOf<Of>): Promise<unknown>;
  /** The members after a change, both as the file has them. Absent: the given ones in the place of the others. */
  merge?(before: JsonMembers, given: JsonMembers): JsonMembers;
  /** @throws Error that refuses what the members alone allow */
  check?(before: Stored | null, after: EntryOf<Of>, given: JsonMembers): void;
  /** @throws Refusal for a change that other entries do not allow */
  checkOthers?(change: Change, before: Stored, after: EntryOf<Of>): Promise<void>;
  /** What follows from a new entry. */
  created?(change: Change): Promise<readonly AuditEntry[]>;
}

/**
 * Makes an entry, once for each call.
 * @param members as JSON, named as in the file
 * @throws Refusal for a name that is taken, and for a repeated call that asks for something else; ConfigError for members
 *   that the file could not have
 */
export function createEntry<Of extends Kind, Stored extends Found & ShownOf<Of>>(
  administration: Administration,
  actor: Actor,
  store: EntryStore<Of, Stored>,
  members: JsonMembers,
  call?: RepeatableCall,
): Promise<Stored> {
  const { kind } = store;
  return perform<Stored>(administration, actor, async (change) => {
    const earlier = await repeatedObject(change, call);
    if (earlier !== null) {
      return { result: await knownEntry(change, store, earlier), auditEntries: [] };
    }
    const name = nameOf(kind, members);
    // Another one's id is no name either: nobody would find the new entry by it.
    const isTaken = (await store.find(change, name)) !== null;
    const entry = readNew(kind, members, await namesInForce(change), isTaken);
    if (isTaken) throw takenName(kind.name, name);
    store.check?.(null, entry, members);
    await store.upsert(change, entry);
    const result = await knownEntry(change, store, name);
    if (call !== undefined) await keepCall(change, call, result.id);
    const fields = compareFields(
      {},
      { ...fieldsOf(kind, result), ...bookedIn(kind, entry as object) },
    );
    const subject = { kind: kind.name, id: result.id, name };
    const others = (await store.created?.(change)) ?? [];
    return { result, auditEntries: [{ action: 'create', subject, fields }, ...others] };
  });
}

/** @throws ConfigError with every problem; that the name is taken is one of them, beside others */
function readNew<Of extends Kind>(
  kind: Of,
  members: JsonMembers,
  names: Names,
  isTaken: boolean,
): EntryOf<Of> {
  try {
    return readEntry(kind, withoutNulls(members), names);
  } catch (error) {
    if (!isTaken || !(error instanceof ConfigError)) throw error;
    const expected = 'a name that nothing else of this kind has';
    const taken = {
      file: null,
      line: null,
      path: kind.identity,
      expected,
      got: 'one that is taken',
    };
    throw new ConfigError([taken, ...error.problems]);
  }
}

/** What counts where an entry is made, and never again. */
const bookedIn = ({ list }: Kind, entry: object) =>
  Object.fromEntries(
    list
      .filter(({ set }) => set === 'booked')
      .map(({ name, property }) => [name, (entry as Readonly<Record<string, unknown>>)[property]]),
  );

/** Which entry somebody changes. */
export interface SeenEntry {
  readonly id: string;
  /** The entry as it was seen; null: as it is now. */
  readonly revision: number | null;
}

/** A change of an entry, by somebody who has seen it. */
export interface EntryChange extends SeenEntry {
  /** As JSON, named as in the file; null: what a file without it means. */
  readonly members: JsonMembers;
}

/**
 * Changes members of an entry.
 * @throws Refusal for one that does not exist or is the file's; Stale; ConfigError for members that the file could not have
 */
export function changeEntry<Of extends Kind, Stored extends Found & ShownOf<Of>>(
  administration: Administration,
  actor: Actor,
  store: EntryStore<Of, Stored>,
  { members, ...seen }: EntryChange,
): Promise<Stored> {
  return changeSeen(administration, actor, store, seen, async (change, before) => {
    const after = readChanged(store, before, members, await namesInForce(change));
    await store.checkOthers?.(change, before, after);
    await store.upsert(change, after);
  });
}

/**
 * Changes an entry that is not the file's and that nobody else has changed since; what differs afterwards is on record.
 * @param write makes the change
 * @throws Refusal for one that does not exist or is the file's; Stale
 */
export function changeSeen<Of extends Kind, Stored extends Found & ShownOf<Of>>(
  administration: Administration,
  actor: Actor,
  source: EntrySource<Of, Stored>,
  { id, revision }: SeenEntry,
  write: (change: Change, before: Stored) => Promise<unknown>,
): Promise<Stored> {
  const { kind } = source;
  return perform(administration, actor, async (change) => {
    const before = await knownEntry(change, source, id);
    const name = nameOf(kind, before);
    if (before.owner === 'file') {
      const message = `${kind.name} '${name}' is managed in the configuration file`;
      throw new Refusal('managed-elsewhere', message);
    }
    if (revision !== null && before.revision !== revision) {
      throw new Stale(kind.name, name, before);
    }
    await write(change, before);
    const result = await knownEntry(change, source, before.id);
    const fields = compareFields(fieldsOf(kind, before), fieldsOf(kind, result));
    const subject = { kind: kind.name, id: before.id, name };
    const auditEntry = { action: 'update', subject, fields } as const;
    return { result, auditEntries: fields.length === 0 ? [] : [auditEntry] };
  });
}

/** An entry as a change would leave it. @throws as `changeEntry` */
export function readChanged<Of extends Kind, Stored extends Found & ShownOf<Of>>(
  store: EntryStore<Of, Stored>,
  before: Stored,
  members: JsonMembers,
  names: Names,
): EntryOf<Of> {
  const { kind, merge = replaceMembers } = store;
  const written = writeEntry(kind, before);
  const after = readEntry(kind, withoutNulls(merge(written, members)), names, written);
  store.check?.(before, after, members);
  return after;
}

/** An entry that nobody keeps: as `createEntry` would make it, or `changeEntry`; what was done with it is on record. */
export function draftEntry<Of extends Kind, Stored extends Found & ShownOf<Of>>(
  administration: Administration,
  actor: Actor,
  store: EntryStore<Of, Stored>,
  {
    id,
    members,
    action,
  }: { readonly id: string | null; readonly members: JsonMembers; readonly action: Action },
): Promise<{ readonly entry: EntryOf<Of>; readonly before: Stored | null }> {
  const { kind } = store;
  return perform(administration, actor, async (change) => {
    const names = await namesInForce(change);
    const before = id === null ? null : await knownEntry(change, store, id);
    const entry =
      before === null
        ? readEntry(kind, withoutNulls(members), names)
        : readChanged(store, before, members, names);
    const name = nameOf(kind, entry as object);
    const subject = { kind: kind.name, name, ...(id !== null && { id }) };
    return { result: { entry, before }, auditEntries: [{ action, subject, fields: [] }] };
  });
}

const replaceMembers = (before: JsonMembers, given: JsonMembers): JsonMembers => ({
  ...before,
  ...given,
});

/** @param reference an id, otherwise a name. @throws Refusal for one that does not exist */
async function knownEntry<Of extends Kind, Stored extends Found & ShownOf<Of>>(
  change: Change,
  { kind, find }: EntrySource<Of, Stored>,
  reference: string,
): Promise<Stored> {
  const found = await find(change, reference);
  if (found === null) throw missingObject(kind.name, reference);
  return found;
}

const nameOf = ({ identity }: Kind, entry: object): string =>
  String((entry as Readonly<Record<string, unknown>>)[identity]);

const withoutNulls = (members: JsonMembers): JsonMembers =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
