import {
  type Block,
  type ReasoningBlock,
  type TextBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  Unconvertible,
} from '#canonical/index.ts';
import type { Losses } from '../../../shared/text/losses.ts';
import { isRecord } from '../../../shared/values.ts';
import { encodeFile, encodeImage } from './encode-media.ts';
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
  const known = ttl === '5m' || ttl === '1h';
  wire['cache_control'] = known ? { type: 'ephemeral', ttl } : { type: 'ephemeral' };
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
        if (block.ifForeign === 'drop') losses.inWords(block.name);
        return encodePlainText(block.text);
      }
      losses.ofClient(block.name, block.ifForeign);
      return null;
  }
}

function encodeText(block: TextBlock, losses: Losses): WireObject | null {
  const own = block.extensions?.filter(({ protocol }) => protocol === 'messages') ?? [];
  const found = own.find(({ name }) => name === 'search_result');
  if (isRecord(found?.value)) return { ...found.value };
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
