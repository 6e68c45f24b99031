import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';

/** The folder of the spool, and whether files can be written there. */
export interface SpoolDisk {
  /** Whether files of this total size fit beside what the journal needs, and can be written. */
  hasRoom(bytes: number): boolean;
  /** A path that no file has yet. */
  newFile(): string;
  /** A file could not be written. */
  failed(error: Error): void;
  /** Why no file can be written; null: they can, as far as is known. Looks again if it is long enough ago. */
  problem(): Error | null;
}

export interface SpoolDiskOptions {
  /** Is emptied. Nothing else may be in it. */
  readonly directory: string;
  /** Milliseconds. */
  readonly monotonic: () => number;
  /** Bytes in files. */
  readonly stored: () => number;
  /** Files cannot be written any more. */
  readonly onProblem: (error: Error) => void;
  /** They can again. */
  readonly onRecovery: () => void;
}

/** How long a look at the disk is good for, in milliseconds. */
const lookEvery = 1_000;
const gibibyte = 2 ** 30;
/** What is written to find out whether a disk that took no bytes takes some again. */
const probeBytes = Buffer.alloc(64 * 1024);

/** @throws Error with a message for the operator if the folder cannot be created, or emptied. */
export function createSpoolDisk(options: SpoolDiskOptions): SpoolDisk {
  const { directory, monotonic } = options;
  try {
    emptyFolder(directory);
  } catch (cause) {
    const { message } = cause as Error;
    throw new Error(`storage.data_dir: ${directory} cannot be used: ${message}`, { cause });
  }
  let files = 0;
  const newFile = (): string => {
    files += 1;
    return path.join(directory, String(files));
  };

  let lookedAt = -Infinity;
  /** Bytes for all files. */
  let room = 0;
  let problem: Error | null = null;
  const reportFailure = (error: Error): void => {
    const isNew = problem === null;
    problem = error;
    lookedAt = monotonic();
    if (isNew) options.onProblem(error);
  };
  const look = (): void => {
    if (monotonic() - lookedAt < lookEvery) return;
    try {
      // Programs that tidy up remove folders in which nothing seems to happen.
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const { bavail, blocks, bsize } = statfsSync(directory);
      const bytesToLeave = Math.min(gibibyte, Math.floor((blocks * bsize) / 10));
      room = options.stored() + bavail * bsize - bytesToLeave;
      tryFile(newFile(), problem !== null);
    } catch (error) {
      reportFailure(error as Error);
      return;
    }
    lookedAt = monotonic();
    if (problem === null) return;
    problem = null;
    options.onRecovery();
  };

  return {
    hasRoom(bytes) {
      look();
      return problem === null && room >= bytes;
    },
    newFile,
    failed: reportFailure,
    problem() {
      if (problem !== null) look();
      return problem;
    },
  };
}

/**
 * Removes what a process left that was killed between creating a file and removing its name. The folder itself stays:
 * it may be a mount or a link to another disk.
 */
function emptyFolder(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    rmSync(directory);
    mkdirSync(directory, { mode: 0o700 });
  }
  for (const name of readdirSync(directory)) {
    // A file system has folders of its own (`lost+found`), and no file of the spool has such a name.
    if (!/^\d+$/.test(name)) continue;
    rmSync(path.join(directory, name), { recursive: true, force: true });
  }
}

/** @throws Error if no file can be created, or no bytes can be written to it. */
function tryFile(name: string, withBytes: boolean): void {
  const file = openSync(name, 'wx', 0o600);
  try {
    unlinkSync(name);
    if (withBytes) writeSync(file, probeBytes);
  } finally {
    closeSync(file);
  }
}
