import type { Block, GenerationRequest } from '#canonical/index.ts';
import type { Losses } from '../../../shared/text/losses.ts';

/**
 * Keeps cache markers on the parts that can carry one: those of users and developers. Removes all of them for a server
 * without markers.
 */
export function keepCacheMarkers(
  request: GenerationRequest,
  known: boolean,
  losses: Losses,
): GenerationRequest {
  const strip = <B extends Block>(block: B, carries: boolean): B => {
    const kept =
      block.type === 'tool-result'
        ? { ...block, content: block.content.map((inner) => strip(inner, carries)) }
        : block;
    if (block.cache === undefined || (carries && isPart(block))) return kept;
    losses.dropped('cache');
    const { cache: _, ...bare } = kept;
    return bare as unknown as B;
  };
  const system = request.system.map((block) => strip(block, known));
  const turns = request.turns.map((turn) => ({
    ...turn,
    blocks: turn.blocks.map((block) => strip(block, known && turn.role !== 'assistant')),
  }));
  return { ...request, system, turns };
}

function isPart({ type }: Block): boolean {
  return type === 'text' || type === 'image' || type === 'file';
}
