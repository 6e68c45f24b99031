import type { Block, GenerationEvent } from '#canonical/index.ts';
import { isRecord } from '../../../shared/values.ts';
import type { ResponseIds } from '../response/describe-response.ts';
import { type FrameWriter, itemAdded, itemDone } from './frame-writer.ts';
import { imageItem } from '../response/output-items.ts';

/** Items that come in one piece. Null if this protocol does not know the block. */
export function writeWhole(
  frames: FrameWriter,
  index: number,
  block: Block,
  ids: ResponseIds,
): { frames: () => string; item: string } | null {
  if (block.type === 'image') {
    const id = ids.item('ig', index);
    const image = imageItem(id, block);
    if (image === null) return null;
    const item = JSON.stringify(image);
    return { frames: () => writeImage(frames, index, id, item), item };
  }
  if (block.type !== 'opaque' || block.protocol !== 'responses' || !isRecord(block.value)) {
    return null;
  }
  const item = JSON.stringify(block.value);
  return { frames: () => itemAdded(frames, index, item) + itemDone(frames, index, item), item };
}

function writeImage(frames: FrameWriter, index: number, id: string, item: string): string {
  const begun = `{"id":"${id}","type":"image_generation_call","status":"in_progress","result":null}`;
  const place = `"item_id":"${id}","output_index":${index}`;
  return (
    itemAdded(frames, index, begun) +
    frames.write('response.image_generation_call.in_progress', place) +
    frames.write('response.image_generation_call.generating', place) +
    frames.write('response.image_generation_call.completed', place) +
    itemDone(frames, index, item)
  );
}

/** The events that would have streamed a block that comes in one piece. */
export function eventsOf(block: Block): GenerationEvent[] {
  const end: GenerationEvent = { type: 'block-end' };
  switch (block.type) {
    case 'text': {
      const { text, logprobs, citations = [] } = block;
      const cited = citations.map((citation): GenerationEvent => ({ type: 'citation', citation }));
      return [end, { type: 'text', text, logprobs }, ...cited, end];
    }
    case 'refusal':
      return [end, { type: 'refusal', text: block.text }, end];
    case 'reasoning': {
      const { text, summary, state } = block;
      const stateEvents: GenerationEvent[] = state === undefined ? [] : [{ type: 'state', state }];
      return [end, { type: 'reasoning', text, summary }, ...stateEvents, end];
    }
    case 'opaque':
      // The words of another provider's hosted tool.
      return block.protocol !== 'responses' && block.text
        ? [end, { type: 'text', text: block.text }, end]
        : [];
    default:
      return [];
  }
}
