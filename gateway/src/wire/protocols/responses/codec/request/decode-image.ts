import type { ImageBlock } from '#canonical/index.ts';
import type { JsonRecord } from '../../../shared/values.ts';

/** The picture of an `image_generation_call`; null if it has none. */
export function decodeImage({ result, output_format: format }: JsonRecord): ImageBlock | null {
  if (typeof result !== 'string' || result === '') return null;
  if (/^https?:\/\//.test(result)) {
    return { type: 'image', source: { kind: 'url', url: result, mime: null } };
  }
  const mime = `image/${typeof format === 'string' ? format : 'png'}`;
  return { type: 'image', source: { kind: 'data', mime, base64: result } };
}
