import {
  Unconvertible,
  type Block,
  type GenerationRequest,
  type ToolCallBlock,
  type ToolResultBlock,
  type Turn,
} from '../../canonical/index.ts';
import type { LossList } from '../losses.ts';

/** What an upstream is told about a call that was never answered: an error in words, so that it is one loss. */
const noResult = 'Error: no result was recorded for this call.';

/**
 * Turns alternate, and the results of a turn's calls stand first in the turn after it, in the order of the calls, each
 * exactly once. Every upstream insists on some part of that.
 * @param repairs unanswered calls get an empty result, as the client's own protocol would; else they are refused
 * @throws Unconvertible for a result without its call, or a call without its result.
 */
export function pairCalls(
  request: GenerationRequest,
  repairs: boolean,
  losses: LossList,
): GenerationRequest {
  const turns: Turn[] = [];
  const merged = mergeTurns(request.turns);
  merged.forEach((turn, index) => {
    const calls = callsOf(merged[index - 1]);
    const results = turn.blocks.filter((block) => block.type === 'tool-result');
    if (calls.length === 0 && results.length === 0) {
      turns.push(turn);
      return;
    }
    if (turn.role !== 'user') throw unanswered(calls[0]);
    const ordered = calls.map((call): Block => {
      const own = results.find(({ id }) => id === call.id);
      if (own !== undefined) return own;
      if (!repairs) throw unanswered(call);
      losses.approximated('tool_result');
      return emptyResult(call);
    });
    for (const result of results) {
      if (!calls.some(({ id }) => id === result.id)) throw orphaned(result);
    }
    turns.push({
      ...turn,
      blocks: [...ordered, ...turn.blocks.filter((block) => block.type !== 'tool-result')],
    });
  });
  return { ...request, turns };
}

/** Neighbours of one speaker become one turn; a system turn between calls and their results goes after these. */
function mergeTurns(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    const before = merged.at(-2);
    const answersEarlier =
      last?.role === 'system' &&
      callsOf(before).length > 0 &&
      turn.blocks.some((block) => block.type === 'tool-result');
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

function callsOf(turn: Turn | undefined): ToolCallBlock[] {
  return turn?.role === 'assistant'
    ? turn.blocks.filter((block) => block.type === 'tool-call')
    : [];
}

function emptyResult({ id, name, kind }: ToolCallBlock): ToolResultBlock {
  const content: Block[] = [{ type: 'text', text: noResult }];
  return {
    type: 'tool-result',
    id,
    name,
    kind,
    content,
    object: { error: noResult },
    isError: false,
  };
}

function unanswered(call: ToolCallBlock | undefined): Unconvertible {
  return new Unconvertible(
    'tool_call',
    `the call '${call?.id ?? ''}' of the tool '${call?.name ?? ''}' has no result after it`,
  );
}

function orphaned({ id }: ToolResultBlock): Unconvertible {
  return new Unconvertible(
    'tool_result',
    `the tool result '${id ?? ''}' does not belong to a call in the turn before it`,
  );
}
