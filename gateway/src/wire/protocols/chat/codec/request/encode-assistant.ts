import type { Block, ToolCallBlock, Turn } from '#canonical/index.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { contentOf, memberValues } from './encode-content.ts';
import { encodeOpaque, noteCommon } from './encode-parts.ts';
import { type EncodeContext, ownMembers } from './encode-context.ts';
import { detailsIn, noReasoning } from '../reasoning.ts';
import { writeCall } from '../tool-calls.ts';

/**
 * Encodes an assistant turn: its content, then its calls. Null if no part of it may be sent.
 * @throws Unconvertible
 */
export function encodeAssistant(turn: Turn, context: EncodeContext): JsonRecord | null {
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
  const sent = {
    require: text || noReasoning,
    allow: text,
    own: own.length > 0 && isLoop ? text : '',
    strip: '',
  }[target.echoReasoning ?? target.traits.reasoningEcho];
  return sent === '' ? returned : { reasoning_content: sent, ...returned };
}
