import {
  type Block,
  type FileBlock,
  type ImageBlock,
  type MediaSource,
  Unconvertible,
} from '#canonical/index.ts';
import { type Losses, notAvailable } from '../../../shared/text/losses.ts';
import { encodeAnnotation } from '../text-details.ts';
import { formatDataUrl } from '../../../shared/images/data-url.ts';
import { fileName } from '../../../shared/images/media-type.ts';
import { contentPart } from './decode-content.ts';
import { ownValue } from './request-extensions.ts';

/** Lifetimes that a breakpoint may name. */
const lifetimes = new Set(['30m', '12h']);

/**
 * Encodes a block as a part of a message or of a call's output. Null if the block has no form there.
 * @throws Unconvertible for media without a place in this protocol.
 */
export function encodePart(
  block: Block,
  speaker: 'assistant' | 'other',
  losses: Losses,
): object | null {
  losses.foreign(block.extensions);
  switch (block.type) {
    case 'text':
      return speaker === 'assistant'
        ? encodeAssistantText(block.text, block.citations)
        : { type: 'input_text', text: block.text, ...breakpoint(block) };
    case 'refusal':
      return speaker === 'assistant'
        ? { type: 'refusal', refusal: block.text }
        : { type: 'input_text', text: block.text };
    case 'image':
      return encodeImage(block);
    case 'file':
      return encodeFile(block);
    case 'audio':
    case 'video':
      throw notAvailable(block.type, `${block.type} input`);
    case 'opaque':
      return encodeOpaquePart(block, speaker, losses);
    default:
      return null;
  }
}

function encodeAssistantText(
  text: string,
  citations: readonly Parameters<typeof encodeAnnotation>[0][] = [],
): object {
  return { type: 'output_text', text, annotations: citations.map(encodeAnnotation) };
}

function encodeImage(block: ImageBlock): object {
  const detail = block.detail ?? 'auto';
  const place =
    block.source.kind === 'file-id'
      ? { file_id: ownFile(block.source) }
      : { image_url: encodeUrl(block.source) };
  return { type: 'input_image', detail, ...place, ...breakpoint(block) };
}

function encodeFile(block: FileBlock): object {
  const { source } = block;
  const detail = ownValue(block.extensions, 'file.detail');
  const rest = { ...(detail !== undefined && { detail }), ...breakpoint(block) };
  const withFilename = block.filename === undefined ? {} : { filename: block.filename };
  if (source.kind === 'file-id') {
    return { type: 'input_file', file_id: ownFile(source), ...withFilename, ...rest };
  }
  if (source.kind === 'url')
    return { type: 'input_file', file_url: source.url, ...withFilename, ...rest };
  // An inline file must have a name.
  const filename = block.filename ?? fileName(source.mime);
  return { type: 'input_file', filename, file_data: encodeUrl(source), ...rest };
}

function encodeUrl(source: Exclude<MediaSource, { kind: 'file-id' }>): string {
  return source.kind === 'url' ? source.url : formatDataUrl(source.mime, source.base64);
}

function ownFile(source: Extract<MediaSource, { kind: 'file-id' }>): string {
  if (source.protocol === 'responses') return source.id;
  throw new Unconvertible(
    'file_id',
    "a file that was uploaded to one provider can't be read by another, please send the file itself",
  );
}

function encodeOpaquePart(
  block: Extract<Block, { type: 'opaque' }>,
  speaker: 'assistant' | 'other',
  losses: Losses,
): object | null {
  if (block.protocol === 'responses') return isPart(block) ? (block.value as object) : null;
  if (block.text !== undefined && block.ifForeign !== 'refuse') {
    if (block.ifForeign === 'drop') losses.add(block.name, 'approximated');
    return speaker === 'assistant'
      ? encodeAssistantText(block.text)
      : { type: 'input_text', text: block.text };
  }
  losses.ofClient(block.name, block.ifForeign);
  return null;
}

/** Whether the block is this protocol's, and a part of a message rather than an item. */
export function isPart(block: Extract<Block, { type: 'opaque' }>): boolean {
  return ownValue(block.extensions, contentPart) === true;
}

function breakpoint({ cache }: Block): object {
  if (cache === undefined) return {};
  const ttl = cache.ttl !== null && lifetimes.has(cache.ttl) ? { ttl: cache.ttl } : {};
  return { prompt_cache_breakpoint: { mode: 'explicit', ...ttl } };
}
