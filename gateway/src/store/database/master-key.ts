import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import {
  isGroupMounted,
  isOpenToOthers,
  ownUser,
  prepareDataFolder,
  unusable,
} from './data-folder.ts';
import type { OpenDatabase } from './open.ts';
import type { Secrets } from './secrets.ts';

const length = 32;

/**
 * Reads the master key from `<dataDir>/master.key`, or creates it at the first start with mode 0600. The file appears
 * atomically: it is written under another name, then linked, so that of two concurrent first starts one wins and both
 * read the same key.
 * @throws Error if the file is damaged or cannot be written, or others can read it.
 */
export function readMasterKey(dataDir: string): Buffer {
  const file = join(dataDir, 'master.key');
  const existing = read(file);
  if (existing !== null) return existing;

  prepareDataFolder(dataDir);
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeSync(descriptor, `${randomBytes(length).toString('base64')}\n`);
    fsyncSync(descriptor);
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unusable(file, error);
  } finally {
    closeSync(descriptor);
    unlinkSync(draft);
  }
  const createdKey = read(file);
  if (createdKey === null) throw new Error(`${file}: could not be created`);
  return createdKey;
}

function read(file: string): Buffer | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code !== 'EACCES') throw error;
    throw new Error(`${file}: this user cannot read the master key; run as the gateway's user`, {
      cause: error,
    });
  }
  // Windows has no mode bits: access there follows the folder.
  if (ownUser !== null && isOpenToOthers(accessOf(file))) {
    throw new Error(
      `${file}: other users of this machine can read the master key; run: chmod 600 '${file}'`,
    );
  }
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== length) {
    throw new Error(`${file}: expected 32 bytes in base64; restore the file from a backup`);
  }
  return key;
}

/** A mount that gives a group access to a folder gives it access to the files too, at every start. */
function accessOf(file: string): Stats {
  const stats = statSync(file);
  if (isGroupMounted(statSync(dirname(file)))) stats.mode &= ~0o070;
  return stats;
}

/** Of the only row. */
const id = 'master';

/**
 * Binds the database to the master key of its first use. Another key would give every client key another hash and could
 * decrypt no credential.
 * @throws Error with a message for the operator if the database belongs to another master key.
 */
export async function claimMasterKey(
  { kysely }: OpenDatabase,
  { fingerprint }: Pick<Secrets, 'fingerprint'>,
): Promise<void> {
  await kysely
    .insertInto('master_key')
    .values({ id, fingerprint })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  const claimRow = await kysely
    .selectFrom('master_key')
    .select('fingerprint')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  if (claimRow.fingerprint === fingerprint) return;
  throw new Error(
    'secrets.master_key: the database was created with another master key; give this node that key, as secrets.master_key or as the file master.key in storage.data_dir',
  );
}
