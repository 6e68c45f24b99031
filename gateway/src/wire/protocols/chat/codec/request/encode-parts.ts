import {
  type AudioBlock,
  type Block,
  type FileBlock,
  type ImageBlock,
  type OpaqueBlock,
  Unconvertible,
} from '#canonical/index.ts';
import { notAvailable } from '../../../shared/text/losses.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { formatDataUrl } from '../../../shared/images/data-url.ts';
import { fileName } from '../../../shared/images/media-type.ts';
import { type EncodeContext, ownMembers, memberName } from './message-members.ts';

/**
 * Encodes a block as a part of a user's content. Null if the block has no form there.
 * @throws Unconvertible for media without a place in this protocol.
 */
function encodePart(block: Block, context: EncodeContext): JsonRecord | null {
  const marker = block.cache === undefined ? null : cacheMarker(block, context);
  noteCommon(marker === null ? block : unmarked(block), context);
  const own = { ...ownMembers(block.extensions), ...marker };
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text, ...own };
    case 'refusal':
      return { type: 'text', text: block.text, ...own };
    case 'image':
      return { ...encodeImage(block), ...own };
    case 'file':
      return { ...encodeFile(block, context), ...own };
    case 'audio':
      return { ...encodeAudio(block), ...own };
    case 'video':
      throw notAvailable('video', 'video input');
    case 'opaque':
      return encodeOpaque(block, context);
    case 'reasoning':
    case 'tool-call':
    case 'tool-result':
      return null;
  }
}

const markable: ReadonlySet<Block['type']> = new Set(['text', 'image', 'file', 'audio']);

/** Marks the end of a prompt cache. Most models of this protocol find their caches by themselves, and refuse markers. */
function cacheMarker({ type }: Block, { target }: EncodeContext): JsonRecord | null {
  const isCarried = target.traits.cacheMarkers && markable.has(type);
  return isCarried ? { prompt_cache_breakpoint: { mode: 'explicit' } } : null;
}

function unmarked<B extends Block>(block: B): B {
  const { cache: _, ...bare } = block;
  return bare as B;
}

/** Notes what any block may carry and chat has no place for. */
export function noteCommon(block: Block, { losses }: EncodeContext): void {
  losses.foreign(block.extensions);
  if (block.cache !== undefined) losses.dropped('cache');
  if (block.type === 'text' && block.citations !== undefined && block.citations.length > 0) {
    losses.dropped('citations');
  }
}

/** The words of another protocol's part. Null if it has none, or if the block is not a part. */
export function encodeOpaque(block: OpaqueBlock, { losses }: EncodeContext): JsonRecord | null {
  if (block.protocol === 'chat') {
    return memberName(block) === null ? (block.value as JsonRecord) : null;
  }
  if (block.text !== undefined && block.ifForeign !== 'refuse') {
    if (block.ifForeign === 'drop') losses.add(block.name, 'approximated');
    return { type: 'text', text: block.text };
  }
  losses.ofClient(block.name, block.ifForeign);
  return null;
}

function encodeImage({ source, detail }: ImageBlock): JsonRecord {
  if (source.kind === 'file-id') throw foreignFile();
  const url = source.kind === 'url' ? source.url : formatDataUrl(source.mime, source.base64);
  return { type: 'image_url', image_url: detail === undefined ? { url } : { url, detail } };
}

function encodeFile({ source, filename }: FileBlock, { losses }: EncodeContext): JsonRecord {
  const withFilename = filename === undefined ? {} : { filename };
  switch (source.kind) {
    case 'file-id':
      if (source.protocol !== 'chat') throw foreignFile();
      return { type: 'file', file: { file_id: source.id, ...withFilename } };
    case 'url':
      throw notAvailable('file.url', 'a file by URL');
    case 'data':
      if (source.mime.startsWith('text/')) {
        losses.approximated('file');
        return { type: 'text', text: fileText(source.base64, filename) };
      }
      // An address may return another type than the client expects.
      if (source.mime.startsWith('image/')) return encodeImage({ type: 'image', source });
      if (/^(audio|video)\//.test(source.mime)) {
        throw notAvailable('file', `a file of type '${source.mime}'`);
      }
      return {
        type: 'file',
        file: {
          // An inline file must have a name.
          filename: filename ?? fileName(source.mime),
          file_data: formatDataUrl(source.mime, source.base64),
        },
      };
  }
}

/** Files in this protocol are PDFs. A text file can be sent as text. */
function fileText(base64: string, filename: string | undefined): string {
  const text = Buffer.from(base64, 'base64').toString('utf8');
  return filename === undefined ? text : `${filename}:\n${text}`;
}

const audioFormats: ReadonlyMap<string, string> = new Map([
  ['audio/wav', 'wav'],
  ['audio/wave', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/mpeg', 'mp3'],
  ['audio/mp3', 'mp3'],
]);

function encodeAudio({ source }: AudioBlock): JsonRecord {
  if (source.kind !== 'data') throw notAvailable('audio.url', 'audio by URL');
  const format = audioFormats.get(source.mime);
  if (format === undefined) throw notAvailable('audio', `audio as '${source.mime}'`);
  return { type: 'input_audio', input_audio: { data: source.base64, format } };
}

function foreignFile(): Unconvertible {
  return new Unconvertible(
    'file_id',
    'a file that was uploaded to another provider cannot be read by this one, please send the file itself',
  );
}

/** A list of parts, or a single string for a single text, which every server accepts. */
export function contentOf(parts: readonly JsonRecord[]): string | readonly JsonRecord[] {
  const [first] = parts;
  if (first === undefined) return '';
  const isPlain = parts.length === 1 && first['type'] === 'text' && Object.keys(first).length === 2;
  return isPlain ? String(first['text']) : parts;
}

/** @throws Unconvertible */
export function encodeParts(blocks: readonly Block[], context: EncodeContext): JsonRecord[] {
  return blocks.map((block) => encodePart(block, context)).filter((part) => part !== null);
}

/** Members of the message that a client of this protocol wrote. */
export function memberValues(blocks: readonly Block[]): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const block of blocks) {
    if (block.type !== 'opaque' || block.protocol !== 'chat') continue;
    const name = memberName(block);
    if (name !== null) members[name] = block.value;
  }
  return members;
}
