import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { VideoSettings } from '#config/index.ts';
import { type BucketOptions, createBucket, type Proxies } from '#upstream/index.ts';

/** Where copies of results are kept. Names are ours: letters, digits, `-`, `_` and one dot. */
export interface ResultStorage {
  /**
   * Keeps a file, in place of one of the same name. Nothing of it is there before all of it is.
   * @throws what the pieces throw, or why they cannot be kept
   */
  write(task: string, name: string, file: NewFile): Promise<void>;
  /** In bytes; null: there is no such file. */
  size(task: string, name: string): Promise<number | null>;
  /** Reads these bytes, the last one included. */
  read(task: string, name: string, from: number, to: number): Promise<Readable>;
  /** Removes these files of a task, if they are there. */
  remove(task: string, names: readonly string[]): Promise<void>;
}

export interface NewFile {
  readonly pieces: AsyncIterable<Buffer>;
  /** In bytes; null: unknown. */
  readonly length: number | null;
  /** Its media type. */
  readonly type: string;
}

/** @throws Error for the operator, if the settings do not say how to reach it. */
export function openResultStorage(
  { storageUrl, s3 }: VideoSettings,
  proxies: Proxies,
): ResultStorage {
  if (!storageUrl.startsWith('s3://')) return createFolderStorage(folderOf(storageUrl));
  const [bucket = '', ...prefix] = storageUrl.slice('s3://'.length).split('/');
  const { accessKeyId, secretAccessKey } = s3;
  if (accessKeyId === null || secretAccessKey === null) {
    throw new Error('video.s3 has no access_key_id or no secret_access_key');
  }
  const at = prefix.filter((part) => part !== '').join('/');
  return createS3Storage({ ...s3, accessKeyId, secretAccessKey, bucket, prefix: at, proxies });
}

const folderOf = (url: string): string => url.replace(/^file:(?:\/\/(?=\/))?/, '');

/** A folder for each task. Several nodes share the folder that holds them. */
export function createFolderStorage(root: string): ResultStorage {
  const folderOf = (task: string): string => path.join(root, task);
  return {
    async write(task, name, { pieces }) {
      const folder = folderOf(task);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // A unique name: a process that was frozen may still write while its replacement does.
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
        const file = await stat(path.join(folderOf(task), name));
        return file.isFile() ? file.size : null;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw error;
      }
    },

    read: async (task, name, from, to) =>
      createReadStream(path.join(folderOf(task), name), { start: from, end: to }),

    // Including what a killed process left of it.
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

export interface S3Options extends BucketOptions {
  /** Before all names; may be empty. */
  readonly prefix: string;
}

/** Results in a bucket of S3. */
export function createS3Storage({ prefix, ...options }: S3Options): ResultStorage {
  const bucket = createBucket(options);
  const pathOf = (task: string, name: string): string =>
    [prefix, task, name].filter((part) => part !== '').join('/');
  return {
    async write(task, name, { pieces, length, type }) {
      // An upload in parts would need no length; stores of videos always announce one.
      if (length === null) throw new Error('the length of a result is not known');
      await bucket.put(pathOf(task, name), { pieces, length, type });
    },
    size: (task, name) => bucket.size(pathOf(task, name)),
    read: (task, name, from, to) => bucket.read(pathOf(task, name), from, to),
    async remove(task, names) {
      for (const name of names) await bucket.remove(pathOf(task, name));
    },
  };
}
