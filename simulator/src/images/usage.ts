import type { Call } from '../http/call.ts';
import type { JsonObject } from '../json.ts';
import { countTokens } from '../scenario/question.ts';
import type { Dimensions } from '../scenario/scenario.ts';
import { wrongCounts } from '../scenario/usage.ts';
import type { ImageOrder } from './order.ts';

/** Prompt tokens of a source picture. */
const sourceTokens = 300;
/** Output tokens of a partial picture. */
const partialTokens = 100;
/** Output tokens of text: newer models think before they draw. */
const thinkingTokens = 100;

/** The vendor's prices of pictures in tokens: square, upright, lying. */
const tokensOf: Readonly<Record<string, readonly [number, number, number]>> = {
  low: [272, 408, 400],
  medium: [1056, 1584, 1568],
  high: [4160, 6240, 6208],
};

/** Usage after the first `drawn` pictures of an order; the last one has that of the request. */
export function usageOf(call: Call, order: ImageOrder, drawn: number): JsonObject {
  if (order.family === 'dall-e-2' || order.family === 'dall-e-3') return {};
  const fault = call.shape.usage;
  if (fault === 'missing') return {};
  const count = (value: number) => (fault === undefined ? value : wrongCounts[fault]);
  const input = { text: countTokens(order.prompt), image: order.sources * sourceTokens };
  let image = 0;
  for (let position = 0; position < drawn; position++) {
    image += imageTokens(order.quality, order.sizeOf(position));
    image += order.stream ? order.partials * partialTokens : 0;
  }
  const text = thinks(order) ? thinkingTokens * drawn : 0;
  const stated = call.shape.images?.inputImages ?? order.sources;
  const counts = order.family === 'demo' || call.shape.images?.inputImages !== undefined;
  const usage = {
    ...(counts && stated > 0 && { input_images: stated }),
    ...(order.family === 'demo' && { generated_images: count(drawn) }),
    total_tokens: count(input.text + input.image + text + image),
    input_tokens: count(input.text + input.image),
    output_tokens: count(text + image),
    input_tokens_details: { text_tokens: count(input.text), image_tokens: count(input.image) },
    ...(thinks(order) && {
      output_tokens_details: { text_tokens: count(text), image_tokens: count(image) },
    }),
  };
  return { usage };
}

/** The first generation states no details of its output. */
function thinks({ model, family }: ImageOrder): boolean {
  return family === 'gpt-image' && !/^gpt-image-1(?:-mini)?$/.test(model);
}

function imageTokens(quality: string, { width, height }: Dimensions): number {
  const names: Readonly<Record<string, string>> = { standard: 'medium', hd: 'high' };
  const [square, upright, lying] = tokensOf[names[quality] ?? quality] ?? [1056, 1584, 1568];
  if (width === 1024 && height === 1536) return upright;
  if (width === 1536 && height === 1024) return lying;
  return Math.ceil((square * width * height) / 1024 ** 2);
}
