import { type Block, type Draft, isPlain, textBlock } from './draft.ts';
import { placeholder } from './empty-content.ts';
import { isThought } from './thinking-blocks.ts';
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
  readonly #found = new Map<unknown, { readonly turn: number; readonly block: Block }[]>();
  readonly #taken = new Set<Block>();

  constructor(turns: readonly Turn[]) {
    for (const [turn, { role, parts }] of turns.entries()) {
      if (role !== 'user') continue;
      for (const block of parts.flatMap(({ blocks }) => blocks)) {
        if (!isResult(block)) continue;
        const id = block['tool_use_id'];
        const others = this.#found.get(id);
        if (others === undefined) this.#found.set(id, [{ turn, block }]);
        else others.push({ turn, block });
      }
    }
  }

  /** The call's first result in that turn or later. It answers no other call, since ids are unique. */
  take(id: string, from: number): Block | null {
    const found = this.#found.get(id)?.find(({ turn }) => turn >= from);
    if (found === undefined) return null;
    this.#taken.add(found.block);
    return found.block;
  }

  without(blocks: Block[]): Block[] {
    return this.#taken.size === 0 ? blocks : blocks.filter((block) => !this.#taken.has(block));
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
