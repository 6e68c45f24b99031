import type { Readable } from 'node:stream';
import type { VideoSettings } from '#config/index.ts';
import { createFolderStorage } from './folder-storage.ts';
import { createS3Storage } from './s3-storage.ts';

/** Where copies of results are kept. Names are ours: letters, digits, `-`, `_` and one dot. */
export interface ResultStorage {
  /**
   * Keeps a file, in place of one of the same name. Nothing of it is there before all of it is.
   * @returns its size in bytes
   * @throws what the pieces throw, or why they cannot be kept
   */
  write(task: string, name: string, file: NewFile): Promise<number>;
  /** In bytes; null: there is no such file. */
  size(task: string, name: string): Promise<number | null>;
  /** Reads these bytes, the last one included. */
  read(task: string, name: string, from: number, to: number): Promise<Readable>;
  /** Removes these files of a task, if they are there. */
  remove(task: string, names: readonly string[]): Promise<void>;
}

export interface NewFile {
  readonly pieces: AsyncIterable<Buffer>;
  /** In bytes; null: nobody knows. */
  readonly length: number | null;
  /** Its media type. */
  readonly type: string;
}

/** @throws Error for the operator, if the settings do not say how to reach it. */
export function openResultStorage({ storageUrl, s3 }: VideoSettings): ResultStorage {
  if (!storageUrl.startsWith('s3://')) return createFolderStorage(folderOf(storageUrl));
  const [bucket = '', ...prefix] = storageUrl.slice('s3://'.length).split('/');
  const { accessKeyId, secretAccessKey } = s3;
  if (accessKeyId === null || secretAccessKey === null) {
    throw new Error('video.s3 has no access_key_id or no secret_access_key');
  }
  const at = prefix.filter((part) => part !== '').join('/');
  return createS3Storage({ ...s3, accessKeyId, secretAccessKey, bucket, prefix: at });
}

const folderOf = (url: string): string => url.replace(/^file:(?:\/\/(?=\/))?/, '');
