import { type Block, type Draft, isPlain, textBlock, blocksIn, isBlank } from './draft.ts';
import { placeholder } from './empty-content.ts';
import { isThought } from './thinking.ts';
import { isCall, isResult } from './tool-values.ts';
import { blocksOfTurn, callIds, leadingResults, openConversation, type Turn } from './turns.ts';

/**
 * Gives every call its result at the beginning of the next turn. A later result is moved there, and a missing one is
 * replaced by an error. A call at the very end, which cannot have a result, is dropped. Nothing may stand between the
 * calls of a turn and their results.
 */
export function answerCalls(draft: Draft): boolean {
  const conversation = openConversation(draft);
  if (conversation === null) return false;
  const { turns } = conversation;
  const late = new LateResults(turns);
  for (const [index, turn] of turns.entries()) {
    if (turn.role !== 'assistant') continue;
    const next = turns[index + 1];
    if (next === undefined) dropCalls(turn);
    else {
      putCallsLast(turn);
      for (const part of next.parts) part.blocks = late.without(part.blocks);
      answerTurn(turn, next, (id) => late.take(id, index + 3) ?? noResult(id));
    }
  }
  // Without a user's turn, two of the model's turns would be adjacent, or one would be the last.
  for (const turn of turns) {
    if (turn.role !== 'user' || !wasEmptied(turn)) continue;
    turn.parts[0]?.blocks.push(textBlock(turn === turns.at(-1) ? 'Continue.' : placeholder));
  }
  return conversation.finish();
}

function dropCalls(turn: Turn): void {
  if (!blocksOfTurn(turn).some(isCall)) return;
  for (const part of turn.parts) part.blocks = part.blocks.filter((block) => !isCall(block));
  // Thinking alone is not a turn.
  if (!blocksOfTurn(turn).every(isThought)) return;
  for (const part of turn.parts) part.blocks = [];
}

/** Upstreams take text after a call for something between the call and its result. */
function putCallsLast(turn: Turn): void {
  const blocks = blocksOfTurn(turn);
  const first = blocks.findIndex(isCall);
  if (first < 0 || !blocks.slice(first).some(({ type }) => type === 'text')) return;
  // Calls of hosted tools keep their place.
  if (!blocks.every(isPlain)) return;
  const calls = blocks.filter(isCall);
  for (const part of turn.parts) part.blocks = part.blocks.filter((block) => !isCall(block));
  turn.parts.at(-1)!.blocks.push(...calls);
}

function answerTurn(turn: Turn, next: Turn, resultOf: (id: string) => Block): void {
  const answered = resultIds(next);
  const missing = callIds(turn).filter((id) => !answered.has(id));
  const [target] = next.parts;
  if (missing.length === 0 || target === undefined) return;
  target.blocks = withResults(target.blocks, missing.map(resultOf));
}

function wasEmptied(turn: Turn): boolean {
  return (
    blocksOfTurn(turn).length === 0 && turn.parts.some(({ message }) => message.content.length > 0)
  );
}

/** Adds results after those that are present. */
function withResults(blocks: readonly Block[], results: readonly Block[]): Block[] {
  const at = leadingResults(blocks);
  return [...blocks.slice(0, at), ...results, ...blocks.slice(at)];
}

/** Results that may be moved, found once for all calls without a result. */
class LateResults {
  readonly #resultsById = new Map<unknown, { readonly turn: number; readonly block: Block }[]>();
  readonly #takenResults = new Set<Block>();

  constructor(turns: readonly Turn[]) {
    for (const [turn, { role, parts }] of turns.entries()) {
      if (role !== 'user') continue;
      for (const block of parts.flatMap(({ blocks }) => blocks)) {
        if (!isResult(block)) continue;
        const id = block['tool_use_id'];
        const others = this.#resultsById.get(id);
        if (others === undefined) this.#resultsById.set(id, [{ turn, block }]);
        else others.push({ turn, block });
      }
    }
  }

  /** The call's first result in that turn or later. It answers no other call, since ids are unique. */
  take(id: string, from: number): Block | null {
    const foundResult = this.#resultsById.get(id)?.find(({ turn }) => turn >= from);
    if (foundResult === undefined) return null;
    this.#takenResults.add(foundResult.block);
    return foundResult.block;
  }

  without(blocks: Block[]): Block[] {
    return this.#takenResults.size === 0
      ? blocks
      : blocks.filter((block) => !this.#takenResults.has(block));
  }
}

function noResult(id: string): Block {
  return {
    type: 'tool_result',
    tool_use_id: id,
    is_error: true,
    content: 'No result was recorded for this call.',
  };
}

function resultIds(turn: Turn): ReadonlySet<unknown> {
  return new Set(
    blocksOfTurn(turn)
      .filter(isResult)
      .map((block) => block['tool_use_id']),
  );
}

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
  const seenIds = new Set<unknown>();
  for (const part of turn.parts.toReversed()) {
    part.blocks = part.blocks
      .toReversed()
      .flatMap((block) => {
        const id = block['tool_use_id'];
        if (!isResult(block) || !repeated.has(id)) return [block];
        if (seenIds.has(id)) return [];
        seenIds.add(id);
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
