import type { Block, NativeState, ReasoningBlock, TextBlock } from '#canonical/index.ts';
import { isEnvelope } from '../../../shared/state/without-state.ts';
import { isAbsent, isRecord, type JsonRecord } from '../../../shared/values.ts';
import { decodeCitations, decodeOpaque } from '../blocks.ts';
import { decodeBase, decodeCache, harmlessInText } from './extensions.ts';
import { decodeDocument, decodeImage } from './decode-media.ts';
import { ownExtension, type Place, requireName } from '../../wire.ts';
import { invalid, requireString } from '../../../shared/text/request-values.ts';

type Decoder = (block: JsonRecord, place: Place) => Block | readonly Block[];

const decoders: Readonly<Record<string, Decoder>> = {
  text: decodeText,
  image: decodeImage,
  document: decodeDocument,
  search_result: decodeSearchResult,
  tool_use: decodeCall,
  tool_result: decodeResult,
  thinking: decodeThinking,
  redacted_thinking: decodeRedacted,
};

/** Types of blocks that only one speaker can write. */
const speakers: Readonly<Record<string, Place['role']>> = {
  tool_use: 'assistant',
  thinking: 'assistant',
  redacted_thinking: 'assistant',
  tool_result: 'user',
};

const textMembers = new Set(['type', 'text', 'cache_control']);
const callMembers = new Set(['type', 'id', 'name', 'input', 'cache_control']);
const resultMembers = new Set(['type', 'tool_use_id', 'content', 'is_error', 'cache_control']);

/**
 * Decodes the content of a message or of a tool result. A block of an unknown type becomes opaque.
 * @throws GatewayError `invalid_value` for a block in the wrong place.
 */
export function decodeContent(content: unknown, place: Place): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw invalid(place.param, 'must be a string or a list of blocks');
  const blocks: Block[] = [];
  for (const [index, value] of content.entries()) {
    const at: Place = { role: place.role, param: `${place.param}.${index}` };
    if (!isRecord(value)) throw invalid(at.param, 'must be an object');
    const decoded = decodeBlock(value, at);
    if (isList(decoded)) blocks.push(...decoded);
    else blocks.push(decoded);
  }
  return blocks;
}

const isList = (value: Block | readonly Block[]): value is readonly Block[] => Array.isArray(value);

function decodeBlock(block: JsonRecord, place: Place): Block | readonly Block[] {
  const type = requireName(block['type'], `${place.param}.type`);
  const speaker = Object.hasOwn(speakers, type) ? speakers[type] : undefined;
  if (speaker !== undefined && speaker !== place.role) {
    throw invalid(`${place.param}.type`, `must not be ${type} here`);
  }
  const decode = Object.hasOwn(decoders, type) ? decoders[type] : undefined;
  return decode === undefined ? decodeOpaque(block, type) : decode(block, place);
}

export function decodeText(block: JsonRecord, { param }: Pick<Place, 'param'>): TextBlock {
  const citations = decodeCitations(block['citations']);
  return {
    type: 'text',
    text: requireString(block['text'], `${param}.text`),
    ...(citations.length > 0 && { citations }),
    ...decodeBase(block, textMembers, harmlessInText),
  };
}

/** Other protocols get its words. Its own protocol gets the block back. */
function decodeSearchResult(block: JsonRecord): TextBlock {
  const content = Array.isArray(block['content']) ? block['content'] : [];
  const texts = content.map((part: unknown) => (isRecord(part) ? part['text'] : null));
  const text = [block['title'], block['source'], ...texts].filter(
    (line) => typeof line === 'string' && line !== '',
  );
  return {
    type: 'text',
    text: text.join('\n'),
    ...decodeCache(block),
    extensions: [ownExtension('search_result', block, 'approximate')],
  };
}

function decodeCall(block: JsonRecord, { param }: Place): Block {
  const { input } = block;
  return {
    type: 'tool-call',
    id: requireName(block['id'], `${param}.id`),
    name: requireName(block['name'], `${param}.name`),
    kind: 'function',
    arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}),
    ...decodeBase(block, callMembers),
  };
}

function decodeResult(block: JsonRecord, { param }: Place): Block {
  const { content } = block;
  const isContent = typeof content === 'string' || Array.isArray(content);
  const readable = isContent ? content : isAbsent(content) ? '' : JSON.stringify(content);
  return {
    type: 'tool-result',
    id: requireName(block['tool_use_id'], `${param}.tool_use_id`),
    name: null,
    content: decodeContent(readable, { role: 'result', param: `${param}.content` }),
    isError: block['is_error'] === true,
    ...decodeBase(block, resultMembers),
  };
}

function decodeThinking(block: JsonRecord, { param }: Place): Block {
  return reasoningBlock(
    requireString(block['thinking'] ?? '', `${param}.thinking`),
    signatureState(block['signature']),
  );
}

function decodeRedacted(block: JsonRecord, { param }: Place): Block {
  return reasoningBlock('', redactedState(requireString(block['data'], `${param}.data`)));
}

/** A thinking block. It has no state if it was not signed. */
export function reasoningBlock(text: string, state: NativeState | null): ReasoningBlock {
  return state === null ? { type: 'reasoning', text } : { type: 'reasoning', text, state };
}

/** A signature that this gateway made is an envelope around another vendor's state. */
export function signatureState(signature: unknown): NativeState | null {
  if (typeof signature !== 'string' || signature === '') return null;
  const kind = isEnvelope(signature) ? 'envelope' : 'signature';
  return { protocol: 'messages', kind, data: signature };
}

/** The state of thinking that only its vendor can read. */
export function redactedState(data: string): NativeState {
  return { protocol: 'messages', kind: 'redacted', data };
}
