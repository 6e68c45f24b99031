import { lockJournal } from './journal-file.repository.ts';

/**
 * Reports at once that a folder is in use, before anything of its configuration takes effect. The journal takes the
 * lock permanently when it opens; two simultaneous starts meet there.
 * @throws Error with a message for the operator if another gateway runs on the folder.
 */
export function assertDataFolderFree(dataDir: string): void {
  lockJournal(dataDir).close();
}
