import { isRecord } from '../../values.ts';
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
  for (const [index, turn] of turns.entries()) {
    if (turn.role !== 'assistant') continue;
    const next = turns[index + 1];
    if (next === undefined) dropCalls(turn);
    else {
      putCallsLast(turn);
      answerTurn(draft, turns, index, next);
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

function answerTurn(draft: Draft, turns: readonly Turn[], index: number, next: Turn): void {
  const answered = resultIds(next);
  const missing = callIds(turns[index]).filter((id) => !answered.has(id));
  const [target] = next.parts;
  if (missing.length === 0 || target === undefined) return;
  const results = missing.map((id) => takeLater(turns, index + 3, id) ?? noResult(id));
  target.blocks.splice(leadingResults(target.blocks), 0, ...results);
}

function wasEmptied(turn: Turn): boolean {
  return (
    blocksOfTurn(turn).length === 0 && turn.parts.some(({ message }) => message.content.length > 0)
  );
}

/** A result that answers nothing where it stands, for no other call has the id. */
function takeLater(turns: readonly Turn[], from: number, id: string): Block | null {
  for (let index = from; index < turns.length; index += 2) {
    for (const part of turns[index]!.parts) {
      const at = part.blocks.findIndex((block) => isResult(block) && block['tool_use_id'] === id);
      if (at >= 0) return part.blocks.splice(at, 1)[0] ?? null;
    }
  }
  return null;
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
    const last = new Map<unknown, Block>();
    const repeated = new Set<unknown>();
    for (const block of blocksOfTurn(turn).filter(isResult)) {
      const id = block['tool_use_id'];
      if (last.has(id)) repeated.add(id);
      const earlier = last.get(id);
      last.set(id, earlier === undefined ? block : merge(draft, earlier, block));
    }
    if (repeated.size > 0) keepLast(turn, last, repeated);
  }
  return conversation.finish();
}

function keepLast(
  turn: Turn,
  last: ReadonlyMap<unknown, Block>,
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
        return [last.get(id) ?? block];
      })
      .toReversed();
  }
}

function merge(draft: Draft, earlier: Block, later: Block): Block {
  const before = contentOf(earlier);
  const after = contentOf(later);
  if (before.length === 0 || JSON.stringify(before) === JSON.stringify(after)) return later;
  return draft.change(later, { content: [...before, ...after] });
}

function contentOf({ content }: Block): readonly Block[] {
  const blocks = blocksIn(content);
  if (blocks !== null) return blocks;
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
