import type { VideoSettings } from '#config/index.ts';
import type { Proxies } from '#upstream/index.ts';
import { createFolderStorage } from './folder-storage.ts';
import { createS3Storage } from './s3-storage.ts';
import type { ResultStorage } from './storage.ts';

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
