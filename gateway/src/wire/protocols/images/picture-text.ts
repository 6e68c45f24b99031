import { base64Prefix, isBase64, isDataUrl } from '../shared/pictures/data-url.ts';
import { isPublicUrl } from '../shared/pictures/public-address.ts';
import { isPicture } from './picture-type.ts';

/** Base64 of the marks by which pictures are recognized. */
const headLength = 24;

/**
 * Whether a text names or holds a picture: a public http(s) URL, a data URI, or a picture in Base64 (its first characters: a
 * long text may be cut).
 */
export function isPictureText(text: string): boolean {
  if (/^https?:/i.test(text)) return isPublicUrl(text);
  if (isDataUrl(text)) return isPictureUrl(text);
  const head = text.slice(0, headLength);
  return isBase64(head) && isPicture(Buffer.from(head, 'base64'));
}

function isPictureUrl(text: string): boolean {
  const prefix = base64Prefix(text);
  if (prefix === null || !/^image\//i.test(prefix.mime)) return false;
  const head = text.slice(prefix.length, prefix.length + headLength);
  return isBase64(head);
}
