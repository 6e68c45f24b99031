import type { Block, GenerationRequest, Turn } from '#canonical/index.ts';
import type { LossList } from './losses.ts';

/**
 * Instructions between the turns, for upstreams of chat and responses. Templates of open models refuse them ("System
 * message must be at the beginning.", https://github.com/vllm-project/vllm/issues/41114), so they become the user's
 * words where the upstream is not known to take them. Empty ones are left out everywhere.
 * @param takes the upstream takes them, or its encoder places them
 */
export function placeSystemTurns(
  request: GenerationRequest,
  takes: boolean,
  losses: LossList,
): GenerationRequest {
  if (!request.turns.some(isSystem)) return request;
  const turns = request.turns.flatMap((turn): Turn[] => {
    if (!isSystem(turn)) return [turn];
    if (turn.blocks.every(isNothing)) {
      if (turn.blocks.some(({ cache }) => cache !== undefined)) losses.dropped('cache');
      return [];
    }
    if (takes) return [turn];
    losses.approximated('system');
    return [{ ...turn, role: 'user' }];
  });
  return { ...request, turns };
}

function isSystem({ role }: Turn): boolean {
  return role === 'system';
}

/** Whether the block says nothing. */
export function isNothing(block: Block): boolean {
  return block.type === 'text' && block.text.trim() === '' && block.state === undefined;
}
