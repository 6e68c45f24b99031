import {
  Unconvertible,
  type GenerationRequest,
  type ToolCallBlock,
  type ToolResultBlock,
  type Turn,
  type Block,
} from '#canonical/index.ts';
import type { LossList } from '../losses.ts';
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
  const merged = moveLateResults(mergeTurns(request.turns));
  const turns = repairs ? repairCalls(merged, losses) : merged;
  return { ...request, turns: turns.map((turn, index) => paired(turn, turns[index - 1])) };
}

function paired(turn: Turn, before: Turn | undefined): Turn {
  const calls = callsOf(before);
  const results = turn.blocks.filter(isResult);
  if (calls.length === 0 && results.length === 0) return turn;
  if (turn.role !== 'user') throw unanswered(calls[0]);
  const first = new Map(results.toReversed().map((result) => [result.id, result]));
  const ordered = calls.map((call) => {
    const own = first.get(call.id);
    if (own === undefined) throw unanswered(call);
    return own;
  });
  const called = new Set(calls.map(({ id }) => id));
  for (const result of results) if (!called.has(result.id)) throw orphaned(result);
  return { ...turn, blocks: [...ordered, ...turn.blocks.filter((block) => !isResult(block))] };
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

/** The result for a call that never got one: an error in words, so that it counts as one loss. */
const noResult = 'Error: no result was recorded for this call.';

/**
 * Repairs calls as Messages clients get it from their own upstreams too (docs/repairs.md, b17 to b19): a call without a
 * result gets one that reports it, or is removed at the very end; a result without a call is quoted; of two results for
 * one call the later counts.
 * @param turns neighbours have different roles
 */
function repairCalls(turns: readonly Turn[], losses: LossList): Turn[] {
  const repaired: Turn[] = [];
  for (const turn of turns) {
    const calls = callsOf(repaired.at(-1));
    if (turn.role !== 'user') {
      if (calls.length > 0) repaired.push(answer(calls, { role: 'user', blocks: [] }, losses));
      repaired.push(turn);
    } else repaired.push(answer(calls, turn, losses));
  }
  const last = repaired.at(-1);
  if (last === undefined || callsOf(last).length === 0) return repaired;
  losses.dropped('tool_call');
  const said = last.blocks.filter(({ type }) => type !== 'tool-call');
  // Reasoning alone is not a response.
  const isNothing = said.every(({ type }) => type === 'reasoning');
  return [...repaired.slice(0, -1), ...(isNothing ? [] : [{ ...last, blocks: said }])];
}

function answer(calls: readonly ToolCallBlock[], turn: Turn, losses: LossList): Turn {
  const called = new Set(calls.map(({ id }) => id));
  const latest = new Map(turn.blocks.filter(isResult).map((result) => [result.id, result]));
  const unanswered = calls.filter(({ id }) => !latest.has(id));
  if (unanswered.length > 0) losses.approximated('tool_result');
  const blocks = turn.blocks.flatMap((block): readonly Block[] => {
    if (!isResult(block)) return [block];
    if (latest.get(block.id) !== block) {
      losses.approximated('tool_result');
      return [];
    }
    if (called.has(block.id)) return [block];
    losses.approximated('tool_result');
    return quoted(block);
  });
  return { ...turn, blocks: [...unanswered.map(emptyResult), ...blocks] };
}

/** As text and media of the user. */
function quoted({ id, content, isError }: ToolResultBlock): Block[] {
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
