import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '#observability/index.ts';
import { sqliteFileOf } from './connect.ts';

const words: Readonly<Record<string, string>> = {
  EEXIST: 'it is a file',
  ENOTDIR: 'a part of its path is a file',
  EACCES: 'this user cannot write there',
  EPERM: 'this user cannot write there',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
};

/**
 * Creates the folder of the journal, the master key and the runtime files, accessible to its owner only.
 * @throws Error with a message for the operator if this user cannot write there, or if somebody else can: then the
 * files in it may not be the gateway's own.
 */
export function prepareDataFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw unusable(`the folder ${dataDir}`, cause);
  }
  if (ownUser !== null) refuseForeign(dataDir, ownUser);
}

/** The error for the operator when a file or the folder cannot be written. */
export function unusable(what: string, cause: unknown): Error {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  return new Error(`storage.data_dir: ${what} cannot be used: ${words[code] ?? message}`, {
    cause,
  });
}

function refuseForeign(dataDir: string, user: number): void {
  const stats = statSync(dataDir);
  if (!isTrustedOwner(stats)) {
    throw new Error(
      `storage.data_dir: the folder ${dataDir} belongs to another user (${stats.uid}); run as that user, or run: chown -R ${user} '${dataDir}'`,
    );
  }
  if (isOthersWritable(stats) && !isGroupMounted(stats)) {
    throw new Error(
      `storage.data_dir: other users of this machine can write to the folder ${dataDir}; check what is in it and run: chmod 700 '${dataDir}'`,
    );
  }
}

const component = 'storage';
const mode = { folder: 0o700, file: 0o600 } as const;

export interface TightenOptions {
  /** The folder exists already. */
  readonly dataDir: string;
  readonly databaseUrl: string;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/**
 * Revokes other users' access to the data folder, its workers' folders and the SQLite file: `mkdir`, a service unit or
 * an older version may have created them, and everything in them is secret. Runs at start before anything is opened,
 * because SQLite gives the files beside a database the access of that database. Group access from a mount stays.
 */
export function tightenDataFolder({ dataDir, databaseUrl, log }: TightenOptions): void {
  if (ownUser === null) return;
  const folder = statSync(dataDir);
  const keepsGroup = isGroupMounted(folder);
  if (keepsGroup && (folder.mode & 0o070) !== 0) {
    const detail = `the mount of ${dataDir} gives access to the group ${folder.gid}`;
    log.warn('every process of the group can read the data folder', { component, detail });
  }
  const openPaths = [...pathsOf(dataDir, databaseUrl)].filter((path) => isOpen(path, keepsGroup));
  const [first] = openPaths;
  if (first === undefined) return;
  const failedPaths = openPaths.filter((path) => !tighten(path, keepsGroup));
  const fields = {
    component,
    count: openPaths.length,
    detail: openPaths.length > 1 ? `${first}, …` : first,
  };
  if (failedPaths.length === 0) log.info('closed the data folder to other users', fields);
  else
    log.warn(
      'other users can read the data folder, and its permissions could not be changed',
      fields,
    );
}

function* pathsOf(dataDir: string, databaseUrl: string): Generator<string> {
  yield dataDir;
  for (const entry of readdirSync(dataDir, { withFileTypes: true })) {
    const path = join(dataDir, entry.name);
    const isWorkers = entry.isDirectory() && /^worker-\d+$/.test(entry.name);
    if (entry.isFile() || isWorkers) yield path;
    if (!isWorkers) continue;
    for (const file of readdirSync(path, { withFileTypes: true })) {
      if (file.isFile()) yield join(path, file.name);
    }
  }
  const database = sqliteFileOf(databaseUrl);
  if (database === null) return;
  for (const path of [database, `${database}-wal`, `${database}-shm`]) {
    if (existsSync(path)) yield path;
  }
}

function isOpen(path: string, keepsGroup: boolean): boolean {
  const stats = statSync(path);
  return keepsGroup ? (stats.mode & 0o007) !== 0 : isOpenToOthers(stats);
}

/** False if this process may not change the file, or its file system has no modes. */
function tighten(path: string, keepsGroup: boolean): boolean {
  const stats = statSync(path);
  const own = stats.isDirectory() ? mode.folder : mode.file;
  try {
    chmodSync(path, keepsGroup ? (stats.mode & 0o7770) | own : own);
  } catch {
    return false;
  }
  return !isOpen(path, keepsGroup);
}

type Access = Pick<Stats, 'mode' | 'uid' | 'gid'>;

/** The user of this process; null on Windows, which has no such modes or owners. */
export const ownUser: number | null = process.getuid?.() ?? null;

/** Root is as trustworthy as the machine itself, and owns volumes that were mounted for this process. */
export function isTrustedOwner({ uid }: Access): boolean {
  return uid === ownUser || uid === 0;
}

/** Whether anybody but the owner can write. */
export function isOthersWritable({ mode }: Access): boolean {
  return (mode & 0o022) !== 0;
}

/** Whether anybody but the owner has any access. */
export function isOpenToOthers({ mode }: Access): boolean {
  return (mode & 0o077) !== 0;
}

/**
 * Whether a mount gave this process its access through a group, as Kubernetes does for `fsGroup`: the folder belongs to
 * root or has the setgid bit, and its group is one of ours. The process needs that access and cannot revoke it. False
 * if everybody can write.
 */
export function isGroupMounted({ mode, uid, gid }: Access): boolean {
  if ((mode & 0o002) !== 0 || ownUser === null) return false;
  const byMount = (mode & 0o2000) !== 0 || uid !== ownUser;
  return byMount && (process.getgid?.() === gid || (process.getgroups?.() ?? []).includes(gid));
}
