import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '#observability/index.ts';
import { sqliteFileOf } from './connect.ts';
import { isGroupMounted, isOpenToOthers, ownUser } from './file-access.ts';

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
  const open = [...pathsOf(dataDir, databaseUrl)].filter((path) => isOpen(path, keepsGroup));
  const [first] = open;
  if (first === undefined) return;
  const failed = open.filter((path) => !tighten(path, keepsGroup));
  const fields = { component, count: open.length, detail: open.length > 1 ? `${first}, …` : first };
  if (failed.length === 0) log.info('closed the data folder to other users', fields);
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
