import type { Block, ReasoningBlock, ToolResultBlock, Turn } from '#canonical/index.ts';
import { digest, isRecord } from '../../../shared/values.ts';
import type { Losses } from '../../../shared/text/losses.ts';
import { encodePart, isPart } from './encode-content.ts';
import { ownValue } from './request-extensions.ts';

interface Message {
  readonly type: 'message';
  readonly role: string;
  readonly phase?: unknown;
  readonly content: object[];
}

/**
 * Encodes a turn as input items in the order of its blocks: parts go into messages, everything else becomes an item.
 * @param place the number of the turn
 * @throws Unconvertible
 */
export function encodeTurn(turn: Turn, place: number, losses: Losses): object[] {
  if (turn.name !== undefined) losses.dropped('message.name');
  const items: object[] = [];
  let message: Message | null = null;
  for (const block of turn.blocks) {
    const item = encodeItem(block, losses);
    if (item !== undefined) {
      message = null;
      if (item !== null) items.push(item);
      continue;
    }
    const role = roleOf(turn, block, losses);
    const part = encodePart(block, role === 'assistant' ? 'assistant' : 'other', losses);
    if (part === null) continue;
    const phase = ownValue(block.extensions, 'phase');
    if (message === null || message.role !== role || message.phase !== phase) {
      message = { type: 'message', role, ...(phase !== undefined && { phase }), content: [] };
      items.push(message);
    }
    message.content.push(part);
  }
  return turn.role === 'assistant' ? items.map((item, at) => published(item, place, at)) : items;
}

/**
 * A message of the model in a form that the description of the API has: with a text, or with parts, an id and a status. Servers
 * that validate with the SDK's own models refuse any other. The id is derived from the place, so that the same history gives
 * the same bytes.
 */
function published(item: object, place: number, at: number): object {
  if (!isMessage(item) || item.role !== 'assistant') return item;
  const { type, content, ...rest } = item;
  const [only] = content;
  const text = content.length === 1 ? plainText(only) : null;
  if (text !== null) return { type, ...rest, content: text };
  return { type, id: `msg_${digest(32, place, at)}`, status: 'completed', ...rest, content };
}

function isMessage(item: object): item is Message {
  return (
    'type' in item && item.type === 'message' && 'content' in item && Array.isArray(item.content)
  );
}

/** The text of a part that says nothing else. */
function plainText(part: unknown): string | null {
  if (!isRecord(part) || part['type'] !== 'output_text') return null;
  const { text, annotations } = part;
  const isBare = Array.isArray(annotations) && annotations.length === 0;
  return isBare && typeof text === 'string' ? text : null;
}

const roles = Object.freeze({ user: 'user', assistant: 'assistant', system: 'developer' });

/** Only users can show images and files, so the model's own come back as the user's. */
function roleOf({ role }: Turn, { type }: Block, losses: Losses): string {
  if (role !== 'assistant' || (type !== 'image' && type !== 'file')) return roles[role];
  losses.approximated(type);
  return 'user';
}

/** Undefined for a part of a message. Null for an item that cannot be sent. */
function encodeItem(block: Block, losses: Losses): object | null | undefined {
  switch (block.type) {
    case 'reasoning':
      return encodeReasoning(block, losses);
    case 'tool-call': {
      noteUnplaced(block, losses);
      const { kind, id, name, namespace } = block;
      const call = { call_id: id, name, ...(namespace !== undefined && { namespace }) };
      return kind === 'custom'
        ? { type: 'custom_tool_call', ...call, input: block.arguments }
        : { type: 'function_call', ...call, arguments: block.arguments || '{}' };
    }
    case 'tool-result':
      return encodeResult(block, losses);
    case 'opaque':
      return block.protocol === 'responses' && !isPart(block) ? (block.value as object) : undefined;
    default:
      return undefined;
  }
}

/**
 * Without state of this protocol, an upstream accepts no reasoning. An upstream with hidden reasoning shows its summary
 * alone and refuses any other text; clients of other protocols do not distinguish the two.
 */
function encodeReasoning(block: ReasoningBlock, losses: Losses): object | null {
  const { state, text } = block;
  const isOwn = state?.protocol === 'responses' && state.kind === 'encrypted';
  const id = isOwn ? state.id : ownValue(block.extensions, 'reasoning.id');
  if (!isOwn && id === undefined) {
    if (text !== '') losses.dropped('reasoning');
    return null;
  }
  const isSummary = block.summary === true || isOwn;
  return {
    type: 'reasoning',
    ...(id !== undefined && { id }),
    summary: isSummary && text !== '' ? [{ type: 'summary_text', text }] : [],
    ...(!isSummary && text !== '' && { content: [{ type: 'reasoning_text', text }] }),
    ...(isOwn && { encrypted_content: state.data }),
  };
}

/** Items of calls and results have no members for extensions of other protocols' clients. */
function noteUnplaced({ cache, extensions }: Block, losses: Losses): void {
  losses.foreign(extensions);
  if (cache !== undefined) losses.dropped('cache');
}

function encodeResult(block: ToolResultBlock, losses: Losses): object {
  noteUnplaced(block, losses);
  const type = block.kind === 'custom' ? 'custom_tool_call_output' : 'function_call_output';
  return { type, call_id: block.id, output: encodeOutput(block, losses) };
}

/** A single string for text alone, since older upstreams know nothing else. */
function encodeOutput({ content, isError }: ToolResultBlock, losses: Losses): unknown {
  const blocks = isError ? markedAsError(content) : content;
  if (isError) losses.approximated('tool_result.is_error');
  const [only] = blocks;
  if (only === undefined) return '';
  if (blocks.length === 1 && only.type === 'text' && only.cache === undefined) return only.text;
  return blocks.map((block) => encodePart(block, 'other', losses)).filter((part) => part !== null);
}

/** This protocol marks a failed call in its text only. */
function markedAsError(content: readonly Block[]): readonly Block[] {
  const [first, ...rest] = content;
  if (first?.type !== 'text') return [{ type: 'text', text: 'Error' }, ...content];
  if (first.text.startsWith('Error: ')) return content;
  return [{ ...first, text: `Error: ${first.text}` }, ...rest];
}
