import {
  type Block,
  type GenerationRequest,
  type TextBlock,
  type ToolResultBlock,
  type Turn,
  type ToolCallBlock,
  isMedia,
} from '#canonical/index.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { contentOf, encodeParts, memberValues, noteCommon, encodeOpaque } from './encode-parts.ts';
import { type EncodeContext, ownMembers } from './message-members.ts';
import { detailsIn, noReasoning } from '../reasoning.ts';
import { writeCall } from '../tool-calls.ts';

/**
 * The whole conversation as messages. Tool results are separate messages, directly after the calls that they answer and
 * in the same order.
 * @throws Unconvertible
 */
export function encodeMessages(
  { system, turns }: Pick<GenerationRequest, 'system' | 'turns'>,
  context: EncodeContext,
): JsonRecord[] {
  const messages: JsonRecord[] = [];
  if (system.length > 0) messages.push(message('system', encodeParts(system, context)));
  turns.forEach((turn, index) => {
    if (turn.role === 'assistant') {
      const encoded = encodeAssistant(turn, context);
      if (encoded !== null) messages.push(encoded);
      return;
    }
    const others = turn.blocks.filter(({ type }) => type !== 'tool-result');
    if (turn.role === 'user' && others.length < turn.blocks.length) {
      messages.push(...encodeResults(turn, turns[index - 1], context));
    }
    const isNothing = others.length === 0 && turn.blocks.length > 0;
    const spokenMessage = isNothing ? null : encodeSpeaker(turn, others, context);
    if (spokenMessage !== null) messages.push(spokenMessage);
  });
  return messages;
}

/** Null if no part of it may be sent. */
function encodeSpeaker(
  turn: Turn,
  blocks: readonly Block[],
  context: EncodeContext,
): JsonRecord | null {
  const parts = encodeParts(blocks, context);
  const members = memberValues(blocks);
  if (blocks.length > 0 && parts.length + Object.keys(members).length === 0) return null;
  return {
    ...message(turn.role, parts),
    ...(turn.name === undefined ? {} : { name: turn.name }),
    ...members,
  };
}

function message(role: string, parts: readonly JsonRecord[]): JsonRecord {
  return { role, content: contentOf(parts) };
}

function encodeResults(turn: Turn, before: Turn | undefined, context: EncodeContext): JsonRecord[] {
  const results = turn.blocks.filter((block) => block.type === 'tool-result');
  const moved: Block[] = [];
  const messages = inCallOrder(results, before).map((result): JsonRecord => {
    noteCommon(result, context);
    const media = result.content.filter(isMedia);
    if (media.length > 0) {
      context.losses.approximated('tool_result.media');
      moved.push({ type: 'text', text: `Output of tool call ${result.id ?? ''}:` }, ...media);
    }
    return {
      role: 'tool',
      tool_call_id: result.id ?? '',
      content: contentOf(encodeParts(resultText(result, context), context)),
    };
  });
  if (moved.length > 0) messages.push(message('user', encodeParts(moved, context)));
  return messages;
}

/** The text of a result: tool messages accept nothing else. */
function resultText(result: ToolResultBlock, { losses }: EncodeContext): readonly Block[] {
  const content = result.content.filter((block) => !isMedia(block));
  const [first] = content;
  if (first === undefined && result.object !== undefined) {
    return [{ type: 'text', text: JSON.stringify(result.object) }];
  }
  if (!result.isError) return content;
  losses.approximated('tool_result.is_error');
  if (first?.type !== 'text') return [{ type: 'text', text: 'Error' }, ...content];
  if (/^error/i.test(first.text)) return content;
  return [{ ...first, text: `Error: ${first.text}` } satisfies TextBlock, ...content.slice(1)];
}

/** A result of an unknown call comes last. */
function inCallOrder(
  results: readonly ToolResultBlock[],
  before: Turn | undefined,
): ToolResultBlock[] {
  const order = new Map<string | null, number>();
  for (const block of before?.blocks ?? []) {
    if (block.type === 'tool-call') order.set(block.id, order.size);
  }
  const place = ({ id }: ToolResultBlock) => order.get(id) ?? order.size;
  return results.toSorted((a, b) => place(a) - place(b));
}

/**
 * Encodes an assistant turn: its content, then its calls. Null if no part of it may be sent.
 * @throws Unconvertible
 */
function encodeAssistant(turn: Turn, context: EncodeContext): JsonRecord | null {
  const calls: ToolCallBlock[] = [];
  const parts: JsonRecord[] = [];
  for (const block of turn.blocks) {
    if (block.type === 'tool-call') calls.push(block);
    const part = encodeSpoken(block, context);
    if (part !== null) parts.push(part);
  }
  const reasoning = encodeReasoning(turn.blocks, context);
  const members = memberValues(turn.blocks);
  const isEmpty = parts.length === 0 && calls.length === 0;
  if (isEmpty && Object.keys(reasoning).length + Object.keys(members).length === 0) return null;
  return {
    role: 'assistant',
    // Beside calls, the protocol wants null for an empty text.
    content: parts.length === 0 && calls.length > 0 ? null : contentOf(parts),
    ...reasoning,
    ...(turn.name === undefined ? {} : { name: turn.name }),
    ...(calls.length > 0 && { tool_calls: calls.map((call) => writeCall(call, call.id ?? '')) }),
    ...members,
  };
}

function encodeSpoken(block: Block, context: EncodeContext): JsonRecord | null {
  noteCommon(block, context);
  const own = ownMembers(block.extensions);
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text, ...own };
    case 'refusal':
      // An upstream that does not know refusals gets them as text.
      return context.target.traits.refusals
        ? { type: 'refusal', refusal: block.text, ...own }
        : { type: 'text', text: block.text, ...own };
    case 'opaque':
      return encodeOpaque(block, context);
    case 'image':
    case 'file':
    case 'audio':
    case 'video':
      // Assistant messages have no place for images and audio.
      context.losses.dropped(block.type);
      return null;
    default:
      return null;
  }
}

/**
 * What the upstream itself sent as `reasoning_content` returns to it beside calls. Some upstreams require the reasoning of
 * all earlier turns, some refuse it. Opaque details return to their maker unchanged.
 */
function encodeReasoning(blocks: readonly Block[], { target }: EncodeContext): JsonRecord {
  const reasoning = blocks.filter((block) => block.type === 'reasoning');
  const details = reasoning.flatMap(({ state }) => detailsIn(state));
  const returned = details.length === 0 ? {} : { reasoning_details: details };
  const own = reasoning.filter(({ state }) => state?.kind === 'reasoning-content');
  const text = (own.length > 0 ? own : reasoning)
    .map((block) => block.text)
    .filter((each) => each !== '')
    .join('\n\n');
  const isLoop = blocks.some(({ type }) => type === 'tool-call');
  const sentReasoning = {
    require: text || noReasoning,
    allow: text,
    own: own.length > 0 && isLoop ? text : '',
    strip: '',
  }[target.echoReasoning ?? target.traits.reasoningEcho];
  return sentReasoning === '' ? returned : { reasoning_content: sentReasoning, ...returned };
}
