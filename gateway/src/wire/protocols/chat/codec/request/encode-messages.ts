import type {
  Block,
  GenerationRequest,
  TextBlock,
  ToolResultBlock,
  Turn,
} from '#canonical/index.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { encodeAssistant } from './encode-assistant.ts';
import { contentOf, encodeParts, memberValues } from './encode-content.ts';
import { noteCommon } from './encode-parts.ts';
import type { EncodeContext } from './encode-context.ts';

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
    if (turn.role === 'user') messages.push(...encodeResults(turn, turns[index - 1], context));
    const others = turn.blocks.filter(({ type }) => type !== 'tool-result');
    const isNothing = others.length === 0 && turn.blocks.length > 0;
    const said = isNothing ? null : encodeSpeaker(turn, others, context);
    if (said !== null) messages.push(said);
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
  if (results.length === 0) return [];
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

function isMedia({ type }: Block): boolean {
  return type === 'image' || type === 'file' || type === 'audio' || type === 'video';
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
