import {
  type FileBlock,
  type ImageBlock,
  type MediaSource,
  Unconvertible,
} from '#canonical/index.ts';
import type { Losses } from '../../../shared/text/losses.ts';
import type { WireObject } from '../../wire.ts';

const imageTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/** @throws Unconvertible for an unsupported format, or for another provider's file. */
export function encodeImage({ source, detail }: ImageBlock, losses: Losses): WireObject {
  if (detail !== undefined) losses.dropped('image.detail');
  return { type: 'image', source: encodeImageSource(source) };
}

function encodeImageSource(source: MediaSource): WireObject {
  if (source.kind !== 'data') return encodeReference(source);
  // A common misspelling of the registered type.
  const mime = source.mime.toLowerCase().replace('image/jpg', 'image/jpeg');
  if (imageTypes.has(mime)) return { type: 'base64', media_type: mime, data: source.base64 };
  throw new Unconvertible(
    'image',
    `images of type ${source.mime} cannot be sent to this model: use jpeg, png, gif or webp`,
  );
}

/** Types that are text, although their names say something else. */
const textTypes = new Set(['application/json', 'application/xml', 'application/yaml']);

/** @throws Unconvertible for anything but PDF, text and images, and for another provider's file. */
export function encodeFile(block: FileBlock, losses: Losses): WireObject {
  const { source, filename } = block;
  if (source.kind === 'data' && source.mime.toLowerCase().startsWith('image/')) {
    return { type: 'image', source: encodeImageSource(source) };
  }
  const title = filename === undefined ? {} : { title: filename };
  return { type: 'document', source: encodeFileSource(source, losses), ...title };
}

function encodeFileSource(source: MediaSource, losses: Losses): WireObject {
  if (source.kind !== 'data') return encodeReference(source);
  const { mime, base64 } = source;
  const type = mime.toLowerCase().split(';', 1)[0]?.trim() ?? '';
  if (type === 'application/pdf') return { type: 'base64', media_type: type, data: base64 };
  if (type.startsWith('text/') || textTypes.has(type)) {
    // The only type of text that is accepted.
    if (type !== 'text/plain') losses.approximated('file');
    const data = Buffer.from(base64, 'base64').toString('utf8');
    return { type: 'text', media_type: 'text/plain', data };
  }
  throw new Unconvertible(
    'file',
    `files of type ${mime} cannot be sent to this model: use application/pdf or text`,
  );
}

function encodeReference(source: Exclude<MediaSource, { kind: 'data' }>): WireObject {
  if (source.kind === 'url') return { type: 'url', url: source.url };
  if (source.protocol === 'messages') return { type: 'file', file_id: source.id };
  throw new Unconvertible(
    'file_id',
    'a file stored at another provider cannot be sent to this model: send its bytes',
  );
}
