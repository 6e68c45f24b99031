import { createBucket, type BucketOptions } from '#upstream/index.ts';
import type { ResultStorage } from './storage.ts';

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
