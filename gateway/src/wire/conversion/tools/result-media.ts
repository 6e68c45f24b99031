import type { Block, GenerationRequest, ToolResultBlock, Turn } from '#canonical/index.ts';
import type { LossList } from '../losses.ts';

/**
 * If tool results can only be text, moves their images and files behind them in the same turn, each with its origin.
 */
export function moveResultMedia(request: GenerationRequest, losses: LossList): GenerationRequest {
  const turns = request.turns.map((turn): Turn => {
    if (!turn.blocks.some(hasMedia)) return turn;
    losses.approximated('tool_result.media');
    const blocks: Block[] = [];
    const moved: Block[] = [];
    for (const block of turn.blocks) {
      if (!hasMedia(block)) {
        blocks.push(block);
        continue;
      }
      const text = block.content.filter((inner) => !isMedia(inner));
      moved.push({ type: 'text', text: `Output of tool call ${block.id ?? ''}:` });
      moved.push(...block.content.filter(isMedia));
      blocks.push({ ...block, content: text.length > 0 ? text : [placeholder] });
    }
    return { ...turn, blocks: insertAfterResults(blocks, moved) };
  });
  return { ...request, turns };
}

const placeholder: Block = Object.freeze({ type: 'text', text: 'The output follows.' });

function hasMedia(block: Block): block is ToolResultBlock {
  return block.type === 'tool-result' && block.content.some(isMedia);
}

function isMedia({ type }: Block): boolean {
  return type === 'image' || type === 'file' || type === 'audio' || type === 'video';
}

function insertAfterResults(blocks: readonly Block[], moved: readonly Block[]): Block[] {
  const at = blocks.findLastIndex((block) => block.type === 'tool-result') + 1;
  return [...blocks.slice(0, at), ...moved, ...blocks.slice(at)];
}
