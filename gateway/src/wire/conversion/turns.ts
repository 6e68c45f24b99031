import type {
  Block,
  ToolCallBlock,
  ToolResultBlock,
  Turn,
  GenerationRequest,
  TextProtocolName,
} from '#canonical/index.ts';
import { isNothing } from './instructions.ts';

/** Joins neighbouring turns of one role; a system turn between calls and their results moves after the results. */
export function mergeTurns(turns: readonly Turn[]): Turn[] {
  const mergedTurns: Turn[] = [];
  /** The blocks of the last turn if it was joined here: thousands of turns are not copied once for each of them. */
  let joinedBlocks: Block[] | null = null;
  for (const turn of turns) {
    const last = mergedTurns.at(-1);
    const before = mergedTurns.at(-2);
    const answersEarlier =
      last?.role === 'system' && callsOf(before).length > 0 && turn.blocks.some(isResult);
    if (answersEarlier) mergedTurns.splice(-1, 0, turn);
    else if (last !== undefined && belongTogether(last, turn)) {
      if (joinedBlocks === null) {
        joinedBlocks = [...last.blocks];
        mergedTurns[mergedTurns.length - 1] = { ...last, blocks: joinedBlocks };
      }
      for (const block of turn.blocks) joinedBlocks.push(block);
    } else {
      mergedTurns.push(turn);
      joinedBlocks = null;
    }
  }
  return mergedTurns;
}

function belongTogether(a: Turn, b: Turn): boolean {
  return a.role === b.role && a.role !== 'system' && a.name === b.name;
}

/**
 * Moves a result that comes turns after its call, and matches no call where it stands, to where its call waits for it.
 */
export function moveLateResults(turns: readonly Turn[]): readonly Turn[] {
  /** By call id: the turns that should contain its result, and how many of them have got one. */
  const waiting = new Map<string | null, { readonly turns: number[]; filledTurns: number }>();
  const movedResults = new Map<number, ToolResultBlock[]>();
  const remainingBlocks = turns.map((turn, at): readonly Block[] => {
    const calls = new Set(callsOf(turns[at - 1]).map(({ id }) => id));
    const blocks = turn.blocks.filter((block) => {
      if (!isResult(block) || calls.has(block.id)) return true;
      const calling = waiting.get(block.id);
      const place = calling?.turns[calling.filledTurns];
      if (calling === undefined || place === undefined) return true;
      calling.filledTurns += 1;
      const late = movedResults.get(place);
      if (late === undefined) movedResults.set(place, [block]);
      else late.push(block);
      return false;
    });
    if (turn.role === 'user') {
      for (const block of turn.blocks) if (isResult(block)) calls.delete(block.id);
      for (const id of calls) {
        const calling = waiting.get(id);
        if (calling === undefined) waiting.set(id, { turns: [at], filledTurns: 0 });
        else calling.turns.push(at);
      }
    }
    return blocks;
  });
  if (movedResults.size === 0) return turns;
  const completedTurns = turns.map((turn, at): Turn => {
    const late = movedResults.get(at) ?? [];
    const blocks = remainingBlocks[at]!;
    return late.length === 0 && blocks.length === turn.blocks.length
      ? turn
      : { ...turn, blocks: [...late, ...blocks] };
  });
  return mergeTurns(
    completedTurns.filter(({ blocks }, at) => blocks.length > 0 || turns[at]!.blocks.length === 0),
  );
}

/** The calls in this turn. */
export function callsOf(turn: Turn | undefined): ToolCallBlock[] {
  return turn?.role === 'assistant'
    ? turn.blocks.filter((block) => block.type === 'tool-call')
    : [];
}

export function isResult(block: Block): block is ToolResultBlock {
  return block.type === 'tool-result';
}

/** The request with every block of its turns replaced by the result of `change`; the same object if nothing changes. */
export function mapBlocks(
  request: GenerationRequest,
  change: (block: Block, turn: number, at: number) => Block,
): GenerationRequest {
  let isChanged = false;
  const turns = request.turns.map((turn, index): Turn => {
    const blocks = mapList(turn.blocks, (block, at) => change(block, index, at));
    if (blocks === turn.blocks) return turn;
    isChanged = true;
    return { ...turn, blocks };
  });
  return isChanged ? { ...request, turns } : request;
}

function mapList(
  blocks: readonly Block[],
  change: (block: Block, at: number) => Block,
): readonly Block[] {
  const mappedBlocks = blocks.map(change);
  return mappedBlocks.some((block, at) => block !== blocks[at]) ? mappedBlocks : blocks;
}

/** The content of an empty turn that cannot be left out. */
const placeholder: Block = Object.freeze({ type: 'text', text: '(no content)' });

/**
 * Leaves out turns that say nothing, for example those that carry only a client's control words, and gives the user's a
 * text where it stands between, before or behind the model's: upstreams refuse empty messages, and without it the model
 * would go on with its own last words. Names the repair `b12`.
 */
export function fillEmptyTurns(
  request: GenerationRequest,
  upstream: TextProtocolName,
  note: (repair: 'b12') => void,
): GenerationRequest {
  const isEmpty = ({ role, blocks }: Turn): boolean =>
    role !== 'system' &&
    blocks.every((block) => isNothing(block) || (role === 'user' && isForeign(block, upstream)));
  if (!request.turns.some(isEmpty)) return request;
  const turns: Turn[] = [];
  for (const [at, turn] of request.turns.entries()) {
    if (!isEmpty(turn)) {
      turns.push(turn);
      continue;
    }
    note('b12');
    // What is lost with the rest of the turn is still to be reported.
    const rest = turn.blocks.filter((block) => !isNothing(block));
    if (rest.length > 0 || isNeeded(turn, turns.at(-1), request.turns[at + 1])) {
      turns.push({ ...turn, blocks: [...rest, placeholder] });
    }
  }
  return { ...request, turns };
}

/** Whether the encoder of the upstream leaves it out. */
function isForeign(block: Block, upstream: TextProtocolName): boolean {
  return (
    block.type === 'opaque' &&
    block.protocol !== upstream &&
    block.text === undefined &&
    block.ifForeign !== 'refuse'
  );
}

/** Whether, without this user's turn, model turns would be adjacent, or one would be the first or the last. */
function isNeeded(
  { role }: Turn,
  previous: Turn | undefined,
  following: Turn | undefined,
): boolean {
  return role === 'user' && previous?.role !== 'user' && following?.role !== 'user';
}
