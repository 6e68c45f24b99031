import type { Block, Extensions, MediaSource } from '#canonical/index.ts';
import { type ReadBase64, readBase64 } from '../../../shared/images/data-url.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { ownExtensions } from './extensions.ts';
import { invalid, member, otherMembers, readRecord, readString } from '../../fields.ts';

const inlineMembers: ReadonlySet<string> = new Set(['mimeType', 'data', 'displayName']);
const fileMembers: ReadonlySet<string> = new Set(['mimeType', 'fileUri', 'displayName']);

/** @throws GatewayError `invalid_value` if the data is not base64. */
export function decodeInlineData(part: JsonRecord, param: string): Block {
  const where = `${param}.inlineData`;
  const media = readRecord(member(part, 'inlineData'), where) ?? {};
  const mime = readString(member(media, 'mimeType'), `${where}.mimeType`) ?? '';
  const data = readString(member(media, 'data'), `${where}.data`) ?? '';
  const source: MediaSource = { kind: 'data', mime, ...toBase64(data, `${where}.data`) };
  const others = ownExtensions(otherMembers(media, inlineMembers), 'inlineData.');
  return mediaBlock(mime, source, others, nameOf(media));
}

/** A file in the provider's storage, or one on the web that the provider fetches. */
export function decodeFileData(part: JsonRecord, param: string): Block {
  const where = `${param}.fileData`;
  const media = readRecord(member(part, 'fileData'), where) ?? {};
  const mime = readString(member(media, 'mimeType'), `${where}.mimeType`);
  const uri = readString(member(media, 'fileUri'), `${where}.fileUri`);
  if (uri === null) throw invalid(`${where}.fileUri`, 'is required');
  const others = ownExtensions(otherMembers(media, fileMembers), 'fileData.');
  if (isStoredFile(uri)) {
    const source: MediaSource = { kind: 'file-id', protocol: 'generate-content', id: uri };
    // The canonical source has no place for it, and the provider may want it back.
    const kept = mime === null ? [] : ownExtensions([['fileData.mimeType', mime]], '', ignored);
    return mediaBlock(mime ?? '', source, [...others, ...kept], nameOf(media));
  }
  return mediaBlock(mime ?? mimeOfUrl(uri), { kind: 'url', url: uri, mime }, others, nameOf(media));
}

const ignored = () => 'ignore' as const;

function nameOf(media: JsonRecord): string | undefined {
  const name = member(media, 'displayName');
  return typeof name === 'string' ? name : undefined;
}

function mediaBlock(
  mime: string,
  source: MediaSource,
  others: Extensions,
  filename: string | undefined,
): Block {
  const extensions = others.length > 0 ? { extensions: others } : {};
  if (mime.startsWith('image/')) return { type: 'image', source, ...extensions };
  if (mime.startsWith('audio/')) return { type: 'audio', source, ...extensions };
  if (mime.startsWith('video/')) return { type: 'video', source, ...extensions };
  const named = filename === undefined ? {} : { filename };
  return { type: 'file', source, ...named, ...extensions };
}

const fileStore = /^https:\/\/[a-z0-9.-]*\bgoogleapis\.com\/.*\bfiles\//;

/** `files/x` and `gs://` belong to the provider. Anybody can read other addresses. */
function isStoredFile(uri: string): boolean {
  return !/^https?:\/\//.test(uri) || fileStore.test(uri);
}

/** The provider reads videos of one site by address. They come without a type. */
function mimeOfUrl(url: string): string {
  return /^https?:\/\/((www|m)\.)?(youtube\.com|youtu\.be)\//.test(url) ? 'video/*' : '';
}

/** Proto3 JSON allows both alphabets and missing padding. All others require the standard form. */
function toBase64(data: string, param: string): ReadBase64 {
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(data)) {
    const read = readBase64(data);
    if (read === null) throw invalid(param, 'must be base64');
    return read;
  }
  // Padding is at most two characters, see above.
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  const plain = data.slice(0, data.length - padding);
  const rest = plain.length % 4;
  if (rest === 1) throw invalid(param, 'must be base64');
  const standard = /[_-]/.test(plain) ? plain.replaceAll('-', '+').replaceAll('_', '/') : plain;
  return { base64: rest === 0 ? standard : standard.padEnd(standard.length + 4 - rest, '=') };
}
