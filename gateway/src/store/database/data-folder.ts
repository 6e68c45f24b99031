import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { isGroupMounted, isOthersWritable, isTrustedOwner, ownUser } from './file-access.ts';

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
