import {
  type Block,
  type ReasoningBlock,
  type TextBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  Unconvertible,
  type FileBlock,
  type ImageBlock,
  type MediaSource,
} from '#canonical/index.ts';
import type { Losses } from '../../../shared/text/losses.ts';
import { isRecord } from '../../../shared/values.ts';
import { applyExtensions } from './extensions.ts';
import { toolInput } from '../blocks.ts';
import type { WireObject } from '../../wire.ts';

/**
 * Encodes one block of a message; null if it would be empty.
 * @throws Unconvertible
 */
export function encodeBlock(block: Block, losses: Losses): WireObject | null {
  const wire = encodeKind(block, losses);
  if (wire === null) return null;
  if (block.type !== 'opaque') applyExtensions(wire, block.extensions, losses);
  // Thinking cannot carry a marker. The block after it ends its cache entry.
  if (block.cache !== undefined && block.type !== 'reasoning') setCacheControl(wire, block.cache);
  return wire;
}

/** Lifetimes that the vendor does not know become its default. */
export function setCacheControl(wire: WireObject, { ttl }: { readonly ttl: string | null }): void {
  const isKnownLifetime = ttl === '5m' || ttl === '1h';
  wire['cache_control'] = isKnownLifetime ? { type: 'ephemeral', ttl } : { type: 'ephemeral' };
}

function encodeKind(block: Block, losses: Losses): WireObject | null {
  switch (block.type) {
    case 'text':
      return encodeText(block, losses);
    case 'refusal':
      return encodePlainText(block.text);
    case 'image':
      return encodeImage(block, losses);
    case 'file':
      return encodeFile(block, losses);
    case 'audio':
    case 'video':
      throw new Unconvertible(block.type, `${block.type} cannot be sent to this model`);
    case 'reasoning':
      return encodeReasoningBlock(block, losses);
    case 'tool-call':
      return encodeCall(block, losses);
    case 'tool-result':
      return encodeResult(block, losses);
    case 'opaque':
      if (block.protocol === 'messages' && isRecord(block.value)) return { ...block.value };
      if (block.text !== undefined && block.ifForeign !== 'refuse') {
        if (block.ifForeign === 'drop') losses.add(block.name, 'approximated');
        return encodePlainText(block.text);
      }
      losses.ofClient(block.name, block.ifForeign);
      return null;
  }
}

function encodeText(block: TextBlock, losses: Losses): WireObject | null {
  const own = block.extensions?.filter(({ protocol }) => protocol === 'messages') ?? [];
  const searchResult = own.find(({ name }) => name === 'search_result');
  if (isRecord(searchResult?.value)) return { ...searchResult.value };
  const citesItself = own.some(({ name }) => name === 'citations');
  if (block.citations !== undefined && !citesItself) losses.dropped('citations');
  return encodePlainText(block.text);
}

/** Upstreams refuse text without a visible character. */
function encodePlainText(text: string): WireObject | null {
  return text.trim() === '' ? null : { type: 'text', text };
}

/** An upstream refuses reasoning without a valid signature, which foreign reasoning does not have. */
function encodeReasoningBlock({ text, state }: ReasoningBlock, losses: Losses): WireObject | null {
  if (state?.protocol === 'messages') {
    if (state.kind === 'redacted') return { type: 'redacted_thinking', data: state.data };
    if (state.kind === 'signature') {
      return { type: 'thinking', thinking: text, signature: state.data };
    }
  }
  losses.dropped('reasoning');
  return null;
}

function encodeCall(block: ToolCallBlock, losses: Losses): WireObject {
  const { input, wrapped } = toolInput(block.arguments);
  if (wrapped) losses.approximated('tool_call.arguments');
  return { type: 'tool_use', id: block.id ?? '', name: block.name, input };
}

function encodeResult(block: ToolResultBlock, losses: Losses): WireObject {
  const content = block.content.flatMap((inner) => encodeBlock(inner, losses) ?? []);
  if (content.length === 0 && block.object !== undefined) {
    content.push({ type: 'text', text: resultText(block.object) });
  }
  const wire: WireObject = { type: 'tool_result', tool_use_id: block.id ?? '' };
  if (content.length > 0) wire['content'] = content;
  if (block.isError) wire['is_error'] = true;
  return wire;
}

function resultText(object: Readonly<Record<string, unknown>>): string {
  const [key, ...others] = Object.keys(object);
  if (others.length === 0 && (key === 'output' || key === 'result')) {
    const value = object[key];
    if (typeof value === 'string') return value;
  }
  return JSON.stringify(object);
}

const imageTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/** @throws Unconvertible for an unsupported format, or for another provider's file. */
function encodeImage({ source, detail }: ImageBlock, losses: Losses): WireObject {
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
function encodeFile(block: FileBlock, losses: Losses): WireObject {
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
