import { isRecord } from '../../../values.ts';
import { type Block, blocksIn, type Draft, isBlank, isPlain, textBlock } from './draft.ts';
import { placeholder } from './empty-content.ts';
import { isThought } from './thinking-blocks.ts';
import { isCall, isResult } from './tool-values.ts';
import { blocksOfTurn, leadingResults, openConversation, type Turn } from './turns.ts';

/**
 * Every call has its result at the beginning of the next turn. One that comes later is moved there, for one that
 * never came something is said; a call at the very end, which cannot have one, is left out. Nothing stands between
 * the calls of a turn and their results.
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
  // Without the user's turn the model's would run into each other, or be the last.
  for (const turn of turns) {
    if (turn.role !== 'user' || !wasEmptied(turn)) continue;
    turn.parts[0]?.blocks.push(textBlock(turn === turns.at(-1) ? 'Continue.' : placeholder));
  }
  return conversation.finish();
}

function dropCalls(turn: Turn): void {
  if (!blocksOfTurn(turn).some(isCall)) return;
  for (const part of turn.parts) part.blocks = part.blocks.filter((block) => !isCall(block));
  // Thoughts alone are no answer.
  if (!blocksOfTurn(turn).every(isThought)) return;
  for (const part of turn.parts) part.blocks = [];
}

/** Text after a call is taken for something between it and its result. */
function putCallsLast(turn: Turn): void {
  const blocks = blocksOfTurn(turn);
  const first = blocks.findIndex(isCall);
  if (first < 0 || !blocks.slice(first).some(({ type }) => type === 'text')) return;
  // What the provider itself ran stands where it was run.
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

/** After the results that are there. */
function withResults(blocks: readonly Block[], results: readonly Block[]): Block[] {
  const at = leadingResults(blocks);
  return [...blocks.slice(0, at), ...results, ...blocks.slice(at)];
}

/** Results that may be taken away from where they stand, found once for all calls that miss theirs. */
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

  /** The first one of the call in that turn or later: it answers nothing there, for no other call has the id. */
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

function callIds(turn: Turn | undefined): string[] {
  return blocksOfTurn(turn)
    .filter(isCall)
    .map(({ id }) => id);
}

function resultIds(turn: Turn): ReadonlySet<unknown> {
  return new Set(
    blocksOfTurn(turn)
      .filter(isResult)
      .map((block) => block['tool_use_id']),
  );
}

/** Results of calls that nobody made: the text stays, as something the user says. */
export function quoteOrphans(draft: Draft): boolean {
  const conversation = openConversation(draft);
  if (conversation === null) return false;
  for (const [index, turn] of conversation.turns.entries()) {
    if (turn.role !== 'user') continue;
    const asked: ReadonlySet<unknown> = new Set(callIds(conversation.turns[index - 1]));
    for (const part of turn.parts) {
      part.blocks = part.blocks.flatMap((block) =>
        isResult(block) && !asked.has(block['tool_use_id']) ? quote(draft, block) : [block],
      );
    }
  }
  return conversation.finish();
}

const shown: ReadonlySet<string> = new Set(['image', 'document', 'search_result']);

function quote(draft: Draft, block: Block): Block[] {
  const { tool_use_id: id, content, cache_control: marker, is_error: failed } = block;
  const parts = blocksIn(content) ?? (typeof content === 'string' ? [textBlock(content)] : []);
  const said = parts.flatMap((part) => {
    if (shown.has(part.type)) return [];
    return [typeof part['text'] === 'string' ? part['text'] : JSON.stringify(part)];
  });
  const name = typeof id === 'string' ? id : 'unknown';
  const head = `[${failed === true ? 'Error' : 'Result'} of tool call ${name}]`;
  const quoted = [
    textBlock([head, ...said].join('\n')),
    ...parts.filter(({ type }) => shown.has(type)),
  ];
  if (!isRecord(marker)) return quoted;
  const last = quoted.pop()!;
  return [...quoted, draft.change(last, { cache_control: marker })];
}

/** Two results of one call: the later one counts, and has the earlier one's text with it when that differs. */
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

/** Of the results of one call so far. */
interface MergedResult {
  content: Block[];
  /** The last one does not say all of it. */
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

/** What tools gave back is the first thing in the user's turn. */
export function putResultsFirst(draft: Draft): boolean {
  const conversation = openConversation(draft);
  if (conversation === null) return false;
  for (const { role, parts } of conversation.turns) {
    const blocks = parts.flatMap((part) => part.blocks);
    const leading = leadingResults(blocks);
    const late = blocks.slice(leading).filter(isResult);
    const [first] = parts;
    if (role !== 'user' || late.length === 0 || first === undefined) continue;
    // What we do not know may have to stand before its result.
    const lastLate = blocks.lastIndexOf(late.at(-1)!);
    if (!blocks.slice(leading, lastLate).every(isPlain)) continue;
    const moved = new Set(late);
    for (const part of parts) part.blocks = part.blocks.filter((block) => !moved.has(block));
    const at = parts.findIndex((part) => leadingResults(part.blocks) < part.blocks.length);
    const target = parts[Math.max(at, 0)] ?? first;
    target.blocks.splice(leadingResults(target.blocks), 0, ...late);
  }
  return conversation.finish();
}
