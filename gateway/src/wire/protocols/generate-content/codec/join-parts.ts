import type { Block, ReasoningBlock, TextBlock } from '#canonical/index.ts';

/**
 * Adds a block to those before it. A client that returns a streamed response as it arrived sends reasoning and
 * signatures in pieces, which are joined here: reasoning up to its closing signature is one block, and an empty text
 * with a signature signs the text or reasoning before it.
 */
export function joinBlock(blocks: Block[], block: Block): void {
  const before = blocks.at(-1);
  const open =
    before !== undefined && isDelta(before) && before.state === undefined ? before : null;
  if (block.type === 'reasoning' && open?.type === 'reasoning') {
    blocks[blocks.length - 1] = { ...open, ...block, text: open.text + block.text };
    return;
  }
  if (block.type === 'text' && block.text === '' && block.state !== undefined) {
    if (open !== null) blocks[blocks.length - 1] = { ...open, state: block.state };
    else blocks.push({ ...block, type: 'reasoning' });
    return;
  }
  if (block.type === 'reasoning' && block.text === '' && block.state === undefined) return;
  blocks.push(block);
}

function isDelta(block: Block): block is TextBlock | ReasoningBlock {
  return block.type === 'text' || block.type === 'reasoning';
}
