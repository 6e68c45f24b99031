import { refuseValue } from '../text/request-values.ts';
import { isAbsent, type JsonRecord } from '../values.ts';

/** The members that say what images are to be like; null for what the client did not set. */
export interface ImageValues {
  readonly count: number | null;
  /** `auto`, `1024x1536`, `2K`. */
  readonly size: string | null;
  readonly quality: string | null;
  readonly background: string | null;
  readonly format: string | null;
  readonly moderation: string | null;
}

/** Images that one request may ask for. */
const mostImages = 10;

const namedSizes: readonly string[] = ['auto', '1K', '1.5K', '2K', '3K', '4K'];
const pixelSize = /^[1-9]\d{0,4}x[1-9]\d{0,4}$/;

/**
 * Reads what images and a chat with an image model have in common.
 * @throws GatewayError `invalid_value`.
 */
export function readImageValues(members: JsonRecord): ImageValues {
  const count = readInteger(members, 'n', 1, mostImages);
  const size = readSize(members['size']);
  const quality = readWord(members, 'quality', 'auto low medium high standard hd');
  const background = readWord(members, 'background', 'auto transparent opaque');
  const format = readWord(members, 'output_format', 'png jpeg webp');
  const moderation = readWord(members, 'moderation', 'auto low');
  if (background === 'transparent' && format === 'jpeg') {
    refuseValue('background', 'cannot be transparent with output_format jpeg');
  }
  return { count, size, quality, background, format, moderation };
}

/**
 * A number that bounds holds and charges, so it must be exact.
 * @throws GatewayError `invalid_value`.
 */
export function readInteger(
  members: JsonRecord,
  name: string,
  from: number,
  to: number,
): number | null {
  const value = members[name];
  if (isAbsent(value)) return null;
  if (Number.isInteger(value) && (value as number) >= from && (value as number) <= to) {
    return value as number;
  }
  return refuseValue(name, `must be an integer from ${from} to ${to}`);
}

/**
 * One of the words of a list.
 * @param words separated by spaces
 * @throws GatewayError `invalid_value`.
 */
export function readWord(members: JsonRecord, name: string, words: string): string | null {
  const value = members[name];
  if (isAbsent(value)) return null;
  const accepted = words.split(' ');
  if (typeof value === 'string' && accepted.includes(value)) return value;
  return refuseValue(name, `must be one of ${accepted.join(', ')}`);
}

function readSize(size: unknown): string | null {
  if (isAbsent(size)) return null;
  if (typeof size === 'string' && (namedSizes.includes(size) || pixelSize.test(size))) return size;
  return refuseValue('size', `must be <width>x<height> or one of ${namedSizes.join(', ')}`);
}
