import type { Call } from '../http/call.ts';
import { namedEvent, type WireEvent } from '../http/reply.ts';
import type { JsonObject } from '../json.ts';
import { seedOf, showImage } from '../image-files/show.ts';
import { formatSize } from '../image-files/size.ts';
import type { ImageOrder } from './order.ts';
import { usageOf } from './usage.ts';

/** The whole response. */
export function renderImages(call: Call, order: ImageOrder, created: number): JsonObject {
  const data = Array.from({ length: order.count }, (_, position) => ({
    ...show(call, order, position, position),
    ...(order.family === 'dall-e-3' && { revised_prompt: `A demo picture of: ${order.prompt}` }),
    ...(order.family === 'demo' && sizeMember(call, order, position)),
  }));
  return {
    created,
    ...(isPlain(order) ? {} : traits(call, order, 0)),
    data,
    ...usageOf(call, order, order.count),
  };
}

/** Each picture: partial ones, then the final one with the usage so far. */
export function renderEvents(call: Call, order: ImageOrder, created: number): WireEvent[] {
  const kind = order.isEdit ? 'image_edit' : 'image_generation';
  const final = call.shape.images?.literalEvents ? 'complete' : 'completed';
  const events: WireEvent[] = [];
  for (let position = 0; position < order.count; position++) {
    const base = { created_at: created, ...traits(call, order, position) };
    for (let partial = 0; partial < order.partials; partial++) {
      events.push(
        namedEvent(`${kind}.partial_image`, {
          ...show(call, order, position, position + order.count * (partial + 1)),
          ...base,
          partial_image_index: partial,
        }),
      );
    }
    const usage = usageOf(call, order, position + 1);
    const shown = show(call, order, position, position);
    events.push(namedEvent(`${kind}.${final}`, { ...shown, ...base, ...usage }));
  }
  if (call.shape.images?.done) events.push({ data: '[DONE]' });
  return events;
}

/** The older models return pictures and nothing about them. */
function isPlain({ family }: ImageOrder): boolean {
  return family === 'dall-e-2' || family === 'dall-e-3';
}

function show(call: Call, order: ImageOrder, position: number, shade: number) {
  const { bytes } = call.shape.images ?? {};
  const image = {
    ...order.sizeOf(position),
    type: order.type,
    transparent: order.transparent,
    seed: seedOf(call, shade),
    ...(bytes !== undefined && { bytes }),
  };
  return showImage(call, image, order.shownAs);
}

function traits(call: Call, order: ImageOrder, position: number): JsonObject {
  return {
    background: order.transparent ? 'transparent' : 'opaque',
    output_format: order.type,
    quality: order.quality,
    ...sizeMember(call, order, position),
  };
}

function sizeMember(call: Call, order: ImageOrder, position: number): JsonObject {
  if (call.shape.images?.size === 'missing') return {};
  return { size: formatSize(order.sizeOf(position)) };
}
