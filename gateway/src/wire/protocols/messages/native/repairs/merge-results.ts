import { type Block, blocksIn, type Draft, isBlank, textBlock } from './draft.ts';
import { isResult } from './tool-values.ts';
import { blocksOfTurn, openConversation, type Turn } from './turns.ts';

/** Merges two results of one call: the later one counts, with the earlier one's content if that differs. */
export function mergeResults(draft: Draft): boolean {
  const conversation = openConversation(draft);
  if (conversation === null) return false;
  for (const turn of conversation.turns) {
    if (turn.role !== 'user') continue;
    const last = new Map<unknown, MergedResult>();
    const repeated = new Set<unknown>();
    for (const block of blocksOfTurn(turn).filter(isResult)) {
      const id = block['tool_use_id'];
      const earlier = last.get(id);
      if (earlier === undefined) last.set(id, { content: contentOf(block), isLonger: false });
      else {
        repeated.add(id);
        addResult(earlier, block);
      }
    }
    if (repeated.size > 0) keepLast(draft, turn, last, repeated);
  }
  return conversation.finish();
}

function keepLast(
  draft: Draft,
  turn: Turn,
  last: ReadonlyMap<unknown, MergedResult>,
  repeated: ReadonlySet<unknown>,
): void {
  const seen = new Set<unknown>();
  for (const part of turn.parts.toReversed()) {
    part.blocks = part.blocks
      .toReversed()
      .flatMap((block) => {
        const id = block['tool_use_id'];
        if (!isResult(block) || !repeated.has(id)) return [block];
        if (seen.has(id)) return [];
        seen.add(id);
        const merged = last.get(id);
        return [
          merged?.isLonger === true ? draft.change(block, { content: merged.content }) : block,
        ];
      })
      .toReversed();
  }
}

/** The results of one call so far. */
interface MergedResult {
  content: Block[];
  /** The content is more than that of the last result. */
  isLonger: boolean;
}

function addResult(merged: MergedResult, later: Block): void {
  const { content } = merged;
  const after = contentOf(later);
  merged.isLonger = content.length > 0 && !isSameContent(content, after);
  if (!merged.isLonger) merged.content = after;
  else for (const block of after) content.push(block);
}

function isSameContent(some: readonly Block[], others: readonly Block[]): boolean {
  return some.length === others.length && JSON.stringify(some) === JSON.stringify(others);
}

function contentOf({ content }: Block): Block[] {
  const blocks = blocksIn(content);
  if (blocks !== null) return [...blocks];
  return typeof content === 'string' && !isBlank(content) ? [textBlock(content)] : [];
}
