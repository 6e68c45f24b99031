import {
  Unconvertible,
  type GenerationRequest,
  type ToolCallBlock,
  type ToolResultBlock,
  type Turn,
} from '#canonical/index.ts';
import type { LossList } from '../losses.ts';
import { repairCalls } from './repair-calls.ts';
import { callsOf, isResult, mergeTurns, moveLateResults } from './turns.ts';

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
