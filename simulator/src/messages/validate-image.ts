import { isObject, stringAt } from '../json.ts';
import { invalid } from './protocol.ts';

const mediaTypes = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

const maxBytes = 10 * 1024 * 1024;
const maxPixels = 8000;

/** The first bytes of each format, in hex. */
const magic: readonly (readonly [pattern: RegExp, type: string])[] = [
  [/^89504e47/, 'image/png'],
  [/^ffd8ff/, 'image/jpeg'],
  [/^47494638/, 'image/gif'],
  [/^52494646.{8}57454250/, 'image/webp'],
];

/** @throws Rejection if the source is incomplete or its media type does not match the bytes */
export function checkImage(source: unknown, path: string): void {
  if (!isObject(source)) throw invalid(`${path}.source: Field required`);
  const type = stringAt(source, 'type');
  if (type === 'url') {
    const url = stringAt(source, 'url');
    if (/^https?:\/\//.test(url)) return;
    throw invalid(`${path}.source.url.url: Only HTTPS URLs are supported.`);
  }
  if (type === 'file' && stringAt(source, 'file_id') !== '') return;
  if (type !== 'base64') {
    throw invalid(
      `${path}.source: Input tag '${type}' found using 'type' does not match any of the expected tags: 'base64', 'file', 'url'`,
    );
  }
  const mediaType = stringAt(source, 'media_type');
  if (!mediaTypes.includes(mediaType)) {
    throw invalid(
      `${path}.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`,
    );
  }
  const data = stringAt(source, 'data');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data)) {
    throw invalid(`${path}.source.base64.data: Input should be valid base64 data`);
  }
  if (data.length * 0.75 > maxBytes) {
    throw invalid(`${path}.source.base64: image exceeds ${maxBytes / 1024 / 1024} MB maximum`);
  }
  const head = Buffer.from(data.slice(0, 64), 'base64').toString('hex');
  if (head.startsWith('89504e47') && head.length >= 48) {
    const sides = [head.slice(32, 40), head.slice(40, 48)].map((side) => Number.parseInt(side, 16));
    if (Math.max(...sides) > maxPixels) {
      throw invalid(
        `${path}.source.base64.data: At least one of the image dimensions exceed max allowed size: ${maxPixels} pixels`,
      );
    }
  }
  const actual = magic.find(([pattern]) => pattern.test(head))?.[1];
  if (actual !== undefined && actual !== mediaType) {
    throw invalid(
      `${path}.source.base64: The image was specified using the ${mediaType} media type, but the image appears to be a ${actual} image`,
    );
  }
}
