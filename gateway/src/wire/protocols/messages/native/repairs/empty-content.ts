import { isRecord } from '../../../shared/values.ts';
import {
  type Block,
  blocksIn,
  type Draft,
  gone,
  isBlank,
  type Message,
  textBlock,
} from './draft.ts';

/** The content of an empty turn that cannot be left out. */
export const placeholder = '(no content)';

/** Fills turns without content, except a begun response at the end. */
export function fillEmptyTurns(draft: Draft): boolean {
  const { messages } = draft;
  if (messages === null) return false;
  const next: Message[] = [];
  for (const [index, message] of messages.entries()) {
    const following = messages[index + 1];
    const isBegun =
      message.role === 'assistant' && following === undefined && next.at(-1)?.role !== 'assistant';
    if (message.content.length > 0 || isBegun) next.push(message);
    else if (!isNeeded(message, next.at(-1), following)) continue;
    else if (message.content === '') next.push(draft.change(message, { content: placeholder }));
    else next.push(draft.withBlocks(message, [textBlock(placeholder)]));
  }
  const isSame = next.length === messages.length && next.every((one, at) => one === messages[at]);
  if (isSame) return false;
  draft.messages = next;
  return true;
}

/** Whether, without this user's turn, model turns would be adjacent, or one would be the first or the last. */
function isNeeded(
  { role }: Message,
  previous: Message | undefined,
  following: Message | undefined,
): boolean {
  return role === 'user' && previous?.role !== 'user' && following?.role !== 'user';
}

/** Drops texts of white space alone. Their cache marker moves one block up. */
export function dropBlankTexts(draft: Draft): boolean {
  let changed = false;
  const system = blocksIn(draft.root['system']);
  const spoken = system === null ? null : withoutBlanks(draft, system);
  if (spoken !== system) {
    changed = true;
    draft.set('system', spoken?.length === 0 ? gone : spoken);
  }
  const { messages } = draft;
  if (messages === null) return changed;
  const next = messages.map((message) => {
    const { content } = message;
    if (typeof content === 'string') {
      return content !== '' && isBlank(content) ? draft.change(message, { content: '' }) : message;
    }
    const inner = draft.mapList(content, (block) => {
      const parts = block.type === 'tool_result' ? blocksIn(block['content']) : null;
      if (parts === null) return block;
      const keptParts = withoutBlanks(draft, parts);
      return keptParts === parts ? block : draft.change(block, { content: keptParts });
    });
    const keptInner = withoutBlanks(draft, inner);
    return keptInner === content ? message : draft.withBlocks(message, keptInner);
  });
  if (next.every((message, index) => message === messages[index])) return changed;
  draft.messages = next;
  return true;
}

function withoutBlanks(draft: Draft, blocks: readonly Block[]): readonly Block[] {
  if (!blocks.some(isBlankText)) return blocks;
  const keptBlocks: Block[] = [];
  for (const block of blocks) {
    if (!isBlankText(block)) {
      keptBlocks.push(block);
      continue;
    }
    const marker = block['cache_control'];
    const previous = keptBlocks.at(-1);
    if (isRecord(marker) && previous !== undefined && takesMarker(previous)) {
      keptBlocks[keptBlocks.length - 1] = draft.change(previous, { cache_control: marker });
    }
  }
  return draft.list(blocks, keptBlocks);
}

export function isBlankText({ type, text: value }: Block): boolean {
  return type === 'text' && isBlank(value);
}

const markable: ReadonlySet<string> = new Set([
  'text',
  'image',
  'document',
  'tool_use',
  'tool_result',
]);

function takesMarker(block: Block): boolean {
  return markable.has(block.type) && !isRecord(block['cache_control']);
}
