import {
  Unconvertible,
  type GenerationRequest,
  type ToolCallBlock,
  type ToolResultBlock,
  type Turn,
  type Block,
  type LossList,
} from '#canonical/index.ts';
import { callsOf, isResult, mergeTurns, moveLateResults } from '../turns.ts';

/**
 * Makes turns alternate and puts the results of a turn's calls first in the next turn, in the order of the calls, each
 * exactly once. Every upstream requires some part of that.
 * @param repairs repair missing or extra results as the client's own protocol would; otherwise refuse them
 * @throws Unconvertible for a result without its call, or a call without its result.
 */
export function pairCalls(
  request: GenerationRequest,
  repairs: boolean,
  losses: LossList,
): GenerationRequest {
  const mergedTurns = moveLateResults(mergeTurns(request.turns));
  const turns = repairs ? repairCalls(mergedTurns, losses) : mergedTurns;
  return { ...request, turns: turns.map((turn, index) => pairTurn(turn, turns[index - 1])) };
}

function pairTurn(turn: Turn, before: Turn | undefined): Turn {
  const calls = callsOf(before);
  const results = turn.blocks.filter(isResult);
  if (calls.length === 0 && results.length === 0) return turn;
  if (turn.role !== 'user') throw unansweredCall(calls[0]);
  const first = new Map(results.toReversed().map((result) => [result.id, result]));
  const orderedResults = calls.map((call) => {
    const own = first.get(call.id);
    if (own === undefined) throw unansweredCall(call);
    return own;
  });
  const callIds = new Set(calls.map(({ id }) => id));
  for (const result of results) if (!callIds.has(result.id)) throw orphanedResult(result);
  return {
    ...turn,
    blocks: [...orderedResults, ...turn.blocks.filter((block) => !isResult(block))],
  };
}

function unansweredCall(call: ToolCallBlock | undefined): Unconvertible {
  return new Unconvertible(
    'tool_call',
    `the call '${call?.id ?? ''}' of the tool '${call?.name ?? ''}' has no result after it`,
  );
}

function orphanedResult({ id }: ToolResultBlock): Unconvertible {
  return new Unconvertible(
    'tool_result',
    `the tool result '${id ?? ''}' does not belong to a call in the turn before it`,
  );
}

/** The result for a call that never got one: an error in words, so that it counts as one loss. */
const noResult = 'Error: no result was recorded for this call.';

/**
 * Repairs calls as Messages clients get it from their own upstreams too (docs/repairs.md, b17 to b19): a call without a
 * result gets one that reports it, or is removed at the very end; a result without a call is quoted; of two results for
 * one call the later counts.
 * @param turns neighbours have different roles
 */
function repairCalls(turns: readonly Turn[], losses: LossList): Turn[] {
  const repairedTurns: Turn[] = [];
  for (const turn of turns) {
    const calls = callsOf(repairedTurns.at(-1));
    if (turn.role !== 'user') {
      if (calls.length > 0) repairedTurns.push(answer(calls, { role: 'user', blocks: [] }, losses));
      repairedTurns.push(turn);
    } else repairedTurns.push(answer(calls, turn, losses));
  }
  const last = repairedTurns.at(-1);
  if (last === undefined || callsOf(last).length === 0) return repairedTurns;
  losses.dropped('tool_call');
  const otherBlocks = last.blocks.filter(({ type }) => type !== 'tool-call');
  // Reasoning alone is not a response.
  const isNothing = otherBlocks.every(({ type }) => type === 'reasoning');
  return [...repairedTurns.slice(0, -1), ...(isNothing ? [] : [{ ...last, blocks: otherBlocks }])];
}

function answer(calls: readonly ToolCallBlock[], turn: Turn, losses: LossList): Turn {
  const callIds = new Set(calls.map(({ id }) => id));
  const latest = new Map(turn.blocks.filter(isResult).map((result) => [result.id, result]));
  const unansweredCalls = calls.filter(({ id }) => !latest.has(id));
  if (unansweredCalls.length > 0) losses.approximated('tool_result');
  const blocks = turn.blocks.flatMap((block): readonly Block[] => {
    if (!isResult(block)) return [block];
    if (latest.get(block.id) !== block) {
      losses.approximated('tool_result');
      return [];
    }
    if (callIds.has(block.id)) return [block];
    losses.approximated('tool_result');
    return quoteResult(block);
  });
  return { ...turn, blocks: [...unansweredCalls.map(emptyResult), ...blocks] };
}

/** As text and media of the user. */
function quoteResult({ id, content, isError }: ToolResultBlock): Block[] {
  const texts = content.flatMap((block) => (block.type === 'text' ? block.text : []));
  const head = `[${isError ? 'Error' : 'Result'} of tool call ${id ?? 'unknown'}]`;
  const others = content.filter(({ type }) => type !== 'text');
  return [{ type: 'text', text: [head, ...texts].join('\n') }, ...others];
}

function emptyResult({ id, name, kind }: ToolCallBlock): ToolResultBlock {
  return {
    type: 'tool-result',
    id,
    name,
    kind,
    content: [{ type: 'text', text: noResult }],
    object: { error: noResult },
    isError: false,
  };
}
