import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Refusal, Stale } from '#administration/index.ts';
import {
  type Config,
  ConfigError,
  type DeclaredKind,
  type EntryOf,
  formatPath,
  type Kind,
  parseEntry,
} from '#config/index.ts';
import type { RepeatableCall } from '#identity/index.ts';
import { shownValues } from './contract/members.ts';
import { ApiError } from './errors.ts';
import type { Caller } from './sessions/caller.ts';

/* What every call has in common that makes or changes an entry of a kind that a file can declare too. */

/** The revision in `if-match`. @throws ApiError `invalid` without one */
export function revisionOf({ headers }: FastifyRequest): number {
  const [, digits] = /^"(\d{1,15})"$/.exec(headers['if-match'] ?? '') ?? [];
  if (digits !== undefined) return Number(digits);
  const message = 'expected the revision of the object in double quotes, as in its etag';
  throw new ApiError('invalid', `if-match: ${message}`, {
    fields: [{ path: 'if-match', message }],
  });
}

/** The same where the call may be without; null: it is. @throws ApiError `invalid` */
export function revisionIn(request: FastifyRequest): number | null {
  return request.headers['if-match'] === undefined ? null : revisionOf(request);
}

const usualPage = 50;

/** Which entries of a list a query asks for. */
export function pageOf({
  limit = usualPage,
  cursor,
  q,
}: {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly q?: string | undefined;
}): { readonly limit: number; readonly after?: string; readonly search?: string } {
  return {
    limit,
    ...(cursor !== undefined && { after: cursor }),
    ...(q !== undefined && { search: q }),
  };
}

/** A call with `idempotency-key`; undefined: it has none. @throws ApiError `invalid` */
export function callOf(
  { method, url, headers, body }: FastifyRequest,
  { actor }: Caller,
): RepeatableCall | undefined {
  const name = headers['idempotency-key'];
  if (name === undefined) return undefined;
  if (typeof name !== 'string' || !/^[\x21-\x7e]{1,200}$/.test(name)) {
    const message = 'expected 1 to 200 visible characters';
    throw new ApiError('invalid', `idempotency-key: ${message}`, {
      fields: [{ path: 'idempotency-key', message }],
    });
  }
  const requestText = JSON.stringify([method, url, body]);
  return {
    callerId: actor.id,
    name,
    contents: createHash('sha256').update(requestText).digest('base64url'),
  };
}

/** Where the file declares an entry; null: it does not. `path` is such as `keys[2]`. */
export type PlaceInFile = (
  kind: DeclaredKind,
  name: string,
) => { readonly file: string; readonly line: number; readonly path: string } | null;

/** The places of a file. @param file as it is in force */
export const createPlaceInFile =
  (config: () => Pick<Config, 'file' | 'declared' | 'lines'>): PlaceInFile =>
  ({ section, identity }, name) => {
    const { file, declared, lines } = config();
    const entries: object = declared?.[section] ?? [];
    // Aliases are a mapping.
    const names = Array.isArray(entries)
      ? (entries as Readonly<Record<string, unknown>>[]).map((entry) => entry[identity])
      : Object.keys(entries);
    const index = names.indexOf(name);
    if (file === null || index < 0) return null;
    const path = formatPath([section, Array.isArray(entries) ? index : name]);
    return { file, line: lines[section]?.[index] ?? 1, path };
  };

/** Members as JSON, named as in the file; null: as if it were absent. */
export type GivenMembers = Readonly<
  Record<string, string | number | boolean | readonly string[] | null | undefined>
>;

/**
 * Reads the members of a new entry by the rules of the file.
 * @throws ApiError `invalid` with every problem
 */
export function readMembers<Of extends Kind>(kind: Of, givenMembers: GivenMembers): EntryOf<Of> {
  const texts = Object.entries(givenMembers).map(([name, value]) => [name, textOf(value)]);
  try {
    return parseEntry(kind, Object.fromEntries(texts));
  } catch (error) {
    throw error instanceof ConfigError ? asInvalid(error) : error;
  }
}

/** What is wrong with the members of an entry, in the API's own terms. */
function asInvalid({ problems }: ConfigError): ApiError {
  const fields = problems.map(({ path, expected, got }) => ({
    path,
    message: `expected ${expected}, got ${got}`,
  }));
  const [first] = fields;
  const more = fields.length > 1 ? `, and ${fields.length - 1} more` : '';
  return new ApiError('invalid', `${first?.path}: ${first?.message}${more}`, { fields });
}

/**
 * Reads those members that are given, by the rules of the file; null: what a file without it means.
 * @param fixedMembers members that the rules need, and that do not change
 * @throws ApiError `invalid` with every problem
 */
export function readChanges<Of extends Kind>(
  kind: Of,
  fixedMembers: GivenMembers,
  givenMembers: GivenMembers,
): Partial<EntryOf<Of>> {
  const all = readMembers(kind, { ...givenMembers, ...fixedMembers }) as Readonly<
    Record<string, unknown>
  >;
  const changedMembers = kind.list.filter(({ name }) => givenMembers[name] !== undefined);
  return Object.fromEntries(
    changedMembers.map(({ property }) => [property, all[property]]),
  ) as unknown as Partial<EntryOf<Of>>;
}

function textOf(value: GivenMembers[string]): string | readonly string[] | undefined {
  if (value === null) return undefined;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}

/** Who manages an entry, and which revision of it this is. */
export function managementOf(
  kind: DeclaredKind,
  entry: {
    readonly owner: string;
    readonly revision: number;
    /** Unix milliseconds. */
    readonly createdAt: number;
  },
  placeInFile: PlaceInFile,
) {
  const { owner, revision, createdAt } = entry;
  const name = String((entry as Readonly<Record<string, unknown>>)[kind.identity]);
  return {
    owner,
    editable: owner !== 'file',
    declared_in: owner === 'file' ? placeInFile(kind, name) : null,
    revision,
    created: new Date(createdAt).toISOString(),
  };
}

/** The refusal to change an entry that the file declares. */
export function ownedByFile(placeInFile: PlaceInFile, kind: DeclaredKind, name: string): ApiError {
  const place = placeInFile(kind, name);
  const where =
    place === null ? 'the configuration file' : `${place.file}:${place.line}, ${place.path}`;
  return new ApiError('owned_by_file', `${kind.name} '${name}' is managed in ${where}`, {
    details: place ?? {},
  });
}

/** Shows an entry with who manages it. */
export const showEntry =
  (placeInFile: PlaceInFile) =>
  <Of extends DeclaredKind>(
    kind: Of,
    entry: Parameters<typeof shownValues<Of>>[1] & Parameters<typeof managementOf>[1],
  ) => ({ ...shownValues(kind, entry), ...managementOf(kind, entry, placeInFile) });

/**
 * The same of a change; where somebody else came first, the refusal has the entry as it is now.
 * @param show the entry, as the API shows it
 */
export async function throwStale<Entry>(
  kind: Kind,
  error: unknown,
  show: (entry: Entry) => Promise<{ readonly body: unknown }>,
): Promise<never> {
  if (!(error instanceof Stale)) return throwRefusal(kind, error);
  const { body: object } = await show(error.entry as Entry);
  throw new ApiError('stale', error.message, { details: { object } });
}

/** Says what a use case refused of an entry in the API's own terms. */
export function throwRefusal(kind: Kind, error: unknown): never {
  if (error instanceof ConfigError) throw asInvalid(error);
  if (!(error instanceof Refusal)) throw error;
  throw asApiError(kind, error);
}

function asApiError(kind: Kind, { reason, kind: about, field, message }: Refusal): ApiError {
  const fields = field === null ? [] : [{ path: field, message }];
  switch (reason) {
    case 'missing': {
      const member = kind.list.find(({ refersTo }) => refersTo !== undefined && refersTo === about);
      if (member === undefined) {
        return new ApiError('not_found', `there is no such ${about ?? kind.name}`);
      }
      return new ApiError('invalid', message, { fields: [{ path: member.name, message }] });
    }
    case 'taken':
      return new ApiError('name_taken', message, { fields: [{ path: kind.identity, message }] });
    case 'managed-elsewhere':
      return new ApiError('owned_by_file', message);
    case 'repeated':
      return new ApiError('idempotency_conflict', message);
    case 'above':
      return new ApiError('forbidden', message, { fields });
    case 'out-of-range':
      return new ApiError('invalid', message, { fields });
    case 'state':
      return new ApiError('conflict', message, { fields });
  }
}
