import type { ExpressionBuilder, Kysely, Transaction } from 'kysely';
import {
  findKey,
  listKeys,
  listTeams,
  listUsers,
  type StoredKey,
  type StoredTeam,
  type StoredUser,
} from '#identity/index.ts';
import {
  listAliases,
  listChannels,
  listGroups,
  listModels,
  type StoredAlias,
  type StoredChannel,
  type StoredGroup,
  type StoredModel,
} from '#catalogue/index.ts';
import type { DeclaredKey } from '#config/index.ts';
import type { Database, OpenDatabase, Secrets } from '#database/index.ts';

/** Everything a file can declare, as the database has it, whoever owns it. */
export interface CurrentState {
  readonly groups: readonly StoredGroup[];
  readonly channels: readonly StoredChannel[];
  readonly models: readonly StoredModel[];
  readonly aliases: readonly StoredAlias[];
  readonly users: readonly StoredUser[];
  readonly teams: readonly StoredTeam[];
  readonly keys: readonly StoredKey[];
  /** Key name → hash of its secret; keys without a secret are absent. */
  readonly keyHashes: ReadonlyMap<string, string>;
}

/** Reads all of it, disabled entries included. */
export async function readState(db: Kysely<Database>, secrets: Secrets): Promise<CurrentState> {
  return {
    ...(await readLists(db, secrets)),
    keys: await listKeys(db),
    keyHashes: hashesByName(await keyHashes(db).execute()),
  };
}

/**
 * The same as far as this file can concern it. Of the keys, of which there may be very many, those that the file
 * owns, names, or shares a secret with.
 */
export async function readStateFor(
  declaredFile: { readonly keys: readonly Pick<DeclaredKey, 'name' | 'secret'>[] },
  db: Kysely<Database>,
  secrets: Secrets,
): Promise<CurrentState> {
  const keys = await listKeys(db, { owner: 'file' });
  const hashes = await keyHashes(db).where('owner', '=', 'file').execute();
  const knownNames = new Set(keys.map(({ name }) => name));
  for (const { name, secret } of declaredFile.keys) {
    const namedKey = knownNames.has(name) ? null : await findKey(db, name);
    if (namedKey !== null && namedKey.name === name) keys.push(namedKey);
    const hash = secret === null ? null : secrets.hashKey(secret);
    hashes.push(...(await keyHashes(db).where(namedOrHashed(name, hash)).execute()));
  }
  return { ...(await readLists(db, secrets)), keys, keyHashes: hashesByName(hashes) };
}

async function readLists(db: Kysely<Database>, secrets: Secrets) {
  return {
    groups: await listGroups(db),
    channels: await listChannels(db, secrets),
    models: await listModels(db),
    aliases: await listAliases(db),
    users: await listUsers(db),
    teams: await listTeams(db),
  };
}

function keyHashes(db: Kysely<Database>) {
  return db.selectFrom('keys').select(['name', 'hash']).where('hash', 'is not', null);
}

function namedOrHashed(name: string, hash: string | null) {
  return (eb: ExpressionBuilder<Database, 'keys'>) =>
    hash === null ? eb('name', '=', name) : eb.or([eb('name', '=', name), eb('hash', '=', hash)]);
}

function hashesByName(rows: readonly { readonly name: string; readonly hash: string | null }[]) {
  return new Map(rows.map(({ name, hash }) => [name, hash ?? '']));
}

/**
 * Lets one transaction at a time check and change what a file can declare: nodes that start together apply the same
 * file. SQLite's transactions exclude each other already.
 */
export async function lockDeclaration(
  trx: Transaction<Database>,
  dialect: OpenDatabase['dialect'],
): Promise<void> {
  if (dialect !== 'postgres') return;
  await trx
    .selectFrom('revisions')
    .select('value')
    .where('name', '=', 'global')
    .forUpdate()
    .execute();
}
