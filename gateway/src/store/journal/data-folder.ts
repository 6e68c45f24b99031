import { lockJournal } from './journal-file.repository.ts';

/**
 * Says at once that a folder is taken, before anything of its configuration has been made effective. The journal
 * takes the lock for good when it opens; two starts in the same instant meet there.
 * @throws Error with a sentence for the operator when another gateway runs on the folder.
 */
export function assertDataFolderFree(dataDir: string): void {
  lockJournal(dataDir).close();
}
