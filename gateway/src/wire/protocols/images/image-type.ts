import { base64Prefix, isBase64, isDataUrl } from '../shared/images/data-url.ts';
import { isPublicUrl } from '../shared/images/public-address.ts';

/** The forms of images that every model of OpenAI's kind reads. */
export type ImageType = 'png' | 'jpeg' | 'webp';

const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const jpeg = Buffer.from([0xff, 0xd8, 0xff]);
const riff = Buffer.from('RIFF');
const webp = Buffer.from('WEBP');

/** What a file is, by its first bytes. Null for anything else. */
export function imageType(bytes: Buffer): ImageType | null {
  if (beginsWith(bytes, png, 0)) return 'png';
  if (beginsWith(bytes, jpeg, 0)) return 'jpeg';
  return beginsWith(bytes, riff, 0) && beginsWith(bytes, webp, 8) ? 'webp' : null;
}

const gif = Buffer.from('GIF8');
const bmp = Buffer.from('BM');
const tiffs = [Buffer.from('II*\0'), Buffer.from('MM\0*')];

/** Whether a file is an image of any kind that models read as a reference. */
function isImage(bytes: Buffer): boolean {
  if (imageType(bytes) !== null) return true;
  return [gif, bmp, ...tiffs].some((mark) => beginsWith(bytes, mark, 0));
}

function beginsWith(bytes: Buffer, mark: Buffer, at: number): boolean {
  return (
    bytes.length >= at + mark.length &&
    bytes.compare(mark, 0, mark.length, at, at + mark.length) === 0
  );
}

/** Base64 of the marks by which images are recognized. */
const headLength = 24;

/**
 * Whether a text names or holds an image: a public http(s) URL, a data URI, or an image in Base64 (its first characters: a
 * long text may be cut).
 */
export function isImageText(text: string): boolean {
  if (/^https?:/i.test(text)) return isPublicUrl(text);
  if (isDataUrl(text)) return isImageUrl(text);
  const head = text.slice(0, headLength);
  return isBase64(head) && isImage(Buffer.from(head, 'base64'));
}

function isImageUrl(text: string): boolean {
  const prefix = base64Prefix(text);
  if (prefix === null || !/^image\//i.test(prefix.mime)) return false;
  const head = text.slice(prefix.length, prefix.length + headLength);
  return isBase64(head);
}
