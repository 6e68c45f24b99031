import { accessSync, constants, mkdirSync } from 'node:fs';

const words: Readonly<Record<string, string>> = {
  EEXIST: 'it is a file',
  ENOTDIR: 'a part of its path is a file',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
};

/**
 * Makes the folder of the journal, the master key and the process's own files, for its owner only.
 * @throws Error with a sentence for the operator when there is none that this user may write.
 */
export function prepareDataFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    throw new Error(
      `storage.data_dir: the folder ${dataDir} cannot be used: ${words[code] ?? message}`,
      { cause },
    );
  }
}
