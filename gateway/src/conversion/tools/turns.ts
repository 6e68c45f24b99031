import type { Block, ToolCallBlock, ToolResultBlock, Turn } from '../../canonical/index.ts';

/** Neighbours of one speaker become one turn; a system turn between calls and their results goes after these. */
export function mergeTurns(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    const before = merged.at(-2);
    const answersEarlier =
      last?.role === 'system' && callsOf(before).length > 0 && turn.blocks.some(isResult);
    if (answersEarlier) merged.splice(-1, 0, turn);
    else if (last !== undefined && belongTogether(last, turn)) {
      merged[merged.length - 1] = { ...last, blocks: [...last.blocks, ...turn.blocks] };
    } else merged.push(turn);
  }
  return merged;
}

function belongTogether(a: Turn, b: Turn): boolean {
  return a.role === b.role && a.role !== 'system' && a.name === b.name;
}

/** A result that comes turns after its call, and answers none where it stands, goes where its call waits for it. */
export function moveLateResults(turns: readonly Turn[]): Turn[] {
  let moved = [...turns];
  for (let at = 1; at < moved.length; at += 1) {
    const turn = moved[at]!;
    if (turn.role !== 'user') continue;
    const waiting = callsOf(moved[at - 1]).filter((call) => !hasResult(turn, call));
    const late = waiting.length > 0 ? takeResults(moved.slice(at + 1), waiting) : null;
    if (late === null) continue;
    const answered = { ...turn, blocks: [...late.results, ...turn.blocks] };
    moved = [...moved.slice(0, at), answered, ...late.turns];
  }
  return moved;
}

interface Taken {
  readonly results: readonly ToolResultBlock[];
  readonly turns: Turn[];
}

/** Null when there is nothing to take. */
function takeResults(turns: readonly Turn[], calls: readonly ToolCallBlock[]): Taken | null {
  const results = new Map<string | null, ToolResultBlock>();
  const left: Turn[] = [];
  for (const [index, turn] of turns.entries()) {
    const own = callsOf(turns[index - 1]);
    const blocks = turn.blocks.filter((block) => {
      const isWanted =
        isResult(block) &&
        !results.has(block.id) &&
        calls.some(({ id }) => id === block.id) &&
        !own.some(({ id }) => id === block.id);
      if (isWanted) results.set(block.id, block);
      return !isWanted;
    });
    if (blocks.length === turn.blocks.length) left.push(turn);
    else if (blocks.length > 0) left.push({ ...turn, blocks });
  }
  return results.size === 0 ? null : { results: [...results.values()], turns: mergeTurns(left) };
}

function hasResult(turn: Turn, { id }: ToolCallBlock): boolean {
  return turn.blocks.some((block) => isResult(block) && block.id === id);
}

/** What the model called in this turn. */
export function callsOf(turn: Turn | undefined): ToolCallBlock[] {
  return turn?.role === 'assistant'
    ? turn.blocks.filter((block) => block.type === 'tool-call')
    : [];
}

export function isResult(block: Block): block is ToolResultBlock {
  return block.type === 'tool-result';
}
