import type { Block, GenerationRequest, MediaSource } from '#canonical/index.ts';
import { fittingType } from '#protocols/index.ts';
import { mapBlocks } from './map-blocks.ts';

/**
 * Gives media the type that their bytes show, in its registered spelling, and names the repair `b36` where a client wrote
 * another, or wrote their base64 in another form.
 */
export function repairMedia(
  request: GenerationRequest,
  note: (repair: 'b36') => void,
): GenerationRequest {
  const repair = (block: Block): Block => {
    if (block.type === 'tool-result') {
      const content = block.content.map(repair);
      return content.some((part, at) => part !== block.content[at]) ? { ...block, content } : block;
    }
    if (!('source' in block) || block.source.kind !== 'data') return block;
    const { mime, base64, repaired } = block.source;
    const fitting = fittingType(mime, base64);
    if (fitting === mime && repaired === undefined) return block;
    note('b36');
    const source: MediaSource = { kind: 'data', mime: fitting, base64 };
    return { ...block, source };
  };
  return mapBlocks(request, repair);
}
