import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { randomUUID } from 'node:crypto';
import type { ResultStorage } from './storage.ts';

/** A folder for each task. Several nodes share the folder that holds them. */
export function createFolderStorage(root: string): ResultStorage {
  const folderOf = (task: string): string => path.join(root, task);
  return {
    async write(task, name, { pieces }) {
      const folder = folderOf(task);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // A name of its own: a process that was frozen may still write beside the one that took its place.
      const part = path.join(folder, `${name}.${randomUUID()}.part`);
      try {
        const to = createWriteStream(part, { mode: 0o600, flush: true });
        await pipeline(Readable.from(pieces, { objectMode: false }), to);
        await rename(part, path.join(folder, name));
        await syncFolder(folder);
      } catch (error) {
        await rm(part, { force: true });
        throw error;
      }
    },

    async size(task, name) {
      try {
        const found = await stat(path.join(folderOf(task), name));
        return found.isFile() ? found.size : null;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw error;
      }
    },

    read: async (task, name, from, to) =>
      createReadStream(path.join(folderOf(task), name), { start: from, end: to }),

    // With whatever a killed process left of it.
    remove: (task) => rm(folderOf(task), { recursive: true, force: true }),
  };
}

/** Makes the new name survive a power failure. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
