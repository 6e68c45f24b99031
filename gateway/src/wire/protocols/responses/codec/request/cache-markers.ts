import type { Block, GenerationRequest } from '#canonical/index.ts';
import type { Losses } from '../../../losses.ts';

/**
 * The request with a marker only where a part can carry one, which is what a user or a developer says; without any for
 * a server that has none.
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
