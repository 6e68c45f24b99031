import type {
  NativeState,
  ReasoningBlock,
  RefusalBlock,
  TextBlock,
  Block,
  ToolResultBlock,
} from '#canonical/index.ts';
import { isEnvelope, skipSignature } from '../../shared/state/without-state.ts';
import type { JsonRecord } from '../../shared/values.ts';
import { member } from '../fields.ts';
import { isExactRecord, parseExact } from '../../shared/exact-json.ts';

/** A part's `thoughtSignature`; undefined if absent. */
export function readState(part: JsonRecord): NativeState | undefined {
  const data = member(part, 'thoughtSignature');
  if (typeof data !== 'string' || data === '' || data === skipSignature) return undefined;
  const kind = isEnvelope(data) ? 'envelope' : 'thought-signature';
  return { protocol: 'generate-content', kind, data };
}

/** Only signatures by this protocol's models: upstreams refuse any other as corrupted. */
export function upstreamSignature(state: NativeState | undefined): string | undefined {
  const isOwn = state?.protocol === 'generate-content' && state.kind === 'thought-signature';
  return isOwn ? state.data : undefined;
}

/** State that a client can return: a signature of this protocol, or an envelope around any state. */
export function clientSignature(state: NativeState | undefined): string | undefined {
  return state?.kind === 'envelope' ? state.data : upstreamSignature(state);
}

/** A text as a part. Null for an empty text, which upstreams refuse unless it carries a signature. */
export function textPart(
  { type, text }: TextBlock | RefusalBlock | ReasoningBlock,
  isSigned: boolean,
): Record<string, unknown> | null {
  if (text === '' && !isSigned) return null;
  return type === 'reasoning' ? { text, thought: true } : { text };
}

/**
 * Adds a block to those before it. A client that returns a streamed response as it arrived sends reasoning and
 * signatures in pieces, which are joined here: reasoning up to its closing signature is one block, and an empty text
 * with a signature signs the text or reasoning before it.
 */
export function joinBlock(blocks: Block[], block: Block): void {
  const before = blocks.at(-1);
  const openPart =
    before !== undefined && isDelta(before) && before.state === undefined ? before : null;
  if (block.type === 'reasoning' && openPart?.type === 'reasoning') {
    blocks[blocks.length - 1] = { ...openPart, ...block, text: openPart.text + block.text };
    return;
  }
  if (block.type === 'text' && block.text === '' && block.state !== undefined) {
    if (openPart !== null) blocks[blocks.length - 1] = { ...openPart, state: block.state };
    else blocks.push({ ...block, type: 'reasoning' });
    return;
  }
  if (block.type === 'reasoning' && block.text === '' && block.state === undefined) return;
  blocks.push(block);
}

function isDelta(block: Block): block is TextBlock | ReasoningBlock {
  return block.type === 'text' || block.type === 'reasoning';
}

/**
 * This protocol's results are objects; those of all others are text. An object whose only member is a text under one of
 * the customary names becomes that text. Any other becomes its JSON.
 */
export function readResult(response: JsonRecord): {
  readonly text: string;
  readonly isError: boolean;
} {
  const names = Object.keys(response);
  const [name] = names;
  if (names.length === 1 && name !== undefined) {
    const value = response[name];
    if (name === 'error') {
      return { text: typeof value === 'string' ? value : JSON.stringify(value), isError: true };
    }
    if ((name === 'output' || name === 'result') && typeof value === 'string') {
      return { text: value, isError: false };
    }
  }
  return { text: JSON.stringify(response), isError: false };
}

export function writeResult(block: ToolResultBlock): JsonRecord {
  if (block.object !== undefined) return block.object;
  const text = block.content.map(textOf).filter(Boolean).join('\n');
  return block.isError ? { error: text } : { output: text };
}

function textOf(block: Block): string {
  if (block.type === 'text' || block.type === 'refusal') return block.text;
  return block.type === 'opaque' ? (block.text ?? '') : '';
}

/** The arguments of a call where an object is required. */
export interface CallArguments {
  readonly args: JsonRecord;
  /** The text was not JSON and travels unchanged. */
  readonly broken: boolean;
}

export function readArguments(text: string): CallArguments {
  if (text.trim() === '') return { args: {}, broken: false };
  try {
    const value: unknown = parseExact(text);
    return { args: isExactRecord(value) ? value : { value }, broken: false };
  } catch {
    return { args: { raw_arguments: text }, broken: true };
  }
}
