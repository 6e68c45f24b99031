import type { Block, GenerationRequest, Turn } from '#canonical/index.ts';

/** The request with every block of its turns replaced by the result of `change`; the same object if nothing changes. */
export function mapBlocks(
  request: GenerationRequest,
  change: (block: Block, turn: number, at: number) => Block,
): GenerationRequest {
  let changed = false;
  const turns = request.turns.map((turn, index): Turn => {
    const blocks = mapList(turn.blocks, (block, at) => change(block, index, at));
    if (blocks === turn.blocks) return turn;
    changed = true;
    return { ...turn, blocks };
  });
  return changed ? { ...request, turns } : request;
}

function mapList(
  blocks: readonly Block[],
  change: (block: Block, at: number) => Block,
): readonly Block[] {
  const mapped = blocks.map(change);
  return mapped.some((block, at) => block !== blocks[at]) ? mapped : blocks;
}
