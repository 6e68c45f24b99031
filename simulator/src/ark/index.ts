import type { Call, Endpoint, World } from '../http/call.ts';
import { namedEvent, streamReply, type WireEvent } from '../http/reply.ts';
import type { JsonObject } from '../json.ts';
import { imageJson } from '../image-files/show.ts';
import { wrongCounts } from '../scenario/usage.ts';
import { draw, type Drawing } from './draw.ts';
import { rulesOf } from './model-rules.ts';
import { missingParameter } from './protocol.ts';
import { validateArk } from './validate.ts';

/** `POST /api/v3/images/generations`, and `/v1/images/generations` for models of Ark */
export function createArkImages(world: World): Endpoint {
  return (call) => {
    if (call.model === '') throw missingParameter('model');
    const rules = rulesOf(call.model);
    const { body, references } = validateArk(call.body, call.model, rules);
    const drawing = draw(call, body, references, rules);
    const base = { model: call.model, created: world.created() };
    if (body['stream'] === true) return streamReply(renderEvents(call, drawing, base));
    const data = drawing.entries.map(({ members }) => members);
    return imageJson({ ...base, data, ...usageOf(call, drawing) });
  };
}

/** Each finished or failed picture; the usage alone at the end. */
function renderEvents(call: Call, drawing: Drawing, base: JsonObject): WireEvent[] {
  const images = drawing.entries.map(({ pixels, members }, index) =>
    namedEvent(`image_generation.${pixels > 0 ? 'partial_succeeded' : 'partial_failed'}`, {
      ...base,
      image_index: index,
      ...members,
    }),
  );
  const last = namedEvent('image_generation.completed', { ...base, ...usageOf(call, drawing) });
  return [...images, last, { data: '[DONE]' }];
}

/** A picture is one token per 256 pixels. Failed ones are not counted. */
function usageOf(call: Call, { entries, references }: Drawing): JsonObject {
  const fault = call.shape.usage;
  if (fault === 'missing') return {};
  const count = (value: number) => (fault === undefined ? value : wrongCounts[fault]);
  const good = entries.filter(({ pixels }) => pixels > 0);
  const tokens = good.reduce((sum, { pixels }) => sum + Math.ceil(pixels / 256), 0);
  const stated = call.shape.images?.inputImages ?? references;
  const usage = {
    ...(stated > 0 && { input_images: stated }),
    generated_images: count(good.length),
    output_tokens: count(tokens),
    total_tokens: count(tokens),
  };
  return { usage };
}
