import { type MediaSource, Unconvertible } from '#canonical/index.ts';
import type { JsonRecord } from '../../../shared/values.ts';

/** Encodes media as a part. @throws Unconvertible for a file that another provider stores. */
export function encodeMedia(source: MediaSource): Record<string, unknown> {
  const data = dataPart(source);
  if (data !== null) return data;
  throw new Unconvertible(
    'file_id',
    'a file stored at another provider cannot be read by this model, please send the file itself',
  );
}

/** Null if this protocol cannot carry the source. */
export function dataPart(source: MediaSource): Record<string, unknown> | null {
  if (source.kind === 'data') {
    return { inlineData: { mimeType: source.mime, data: source.base64 } };
  }
  if (source.kind === 'url') return { fileData: fileData(source.url, source.mime) };
  return source.protocol === 'generate-content' ? { fileData: fileData(source.id, null) } : null;
}

function fileData(fileUri: string, mimeType: string | null): JsonRecord {
  return mimeType === null ? { fileUri } : { mimeType, fileUri };
}
