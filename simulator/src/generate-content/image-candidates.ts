import type { Call } from '../http/call.ts';
import { objectAt, stringAt, type JsonObject } from '../json.ts';
import type { ImageSpec } from '../image-files/order.ts';
import { imageInBase64 } from '../image-files/create-image.ts';
import { seedOf } from '../image-files/show.ts';
import { readWords, type PromptWords } from '../image-files/words.ts';
import { countTokens, type Question } from '../scenario/question.ts';
import type { Dimensions, Scenario } from '../scenario/scenario.ts';
import type { ThoughtOptions } from './render.ts';
import { modalitiesOf } from './validate-images.ts';

/** One candidate of an image model. */
export interface ImageCandidate {
  readonly parts: readonly JsonObject[];
  readonly finishReason: string;
  readonly textTokens: number;
  readonly imageTokens: number;
}

/** The sides of a picture of size `1K`, by ratio. The other sizes are multiples of them. */
const sides: Readonly<Record<string, readonly [width: number, height: number]>> = {
  '1:1': [1024, 1024],
  '2:3': [832, 1248],
  '3:2': [1248, 832],
  '3:4': [864, 1184],
  '4:3': [1184, 864],
  '4:5': [896, 1152],
  '5:4': [1152, 896],
  '9:16': [768, 1344],
  '16:9': [1344, 768],
  '21:9': [1536, 672],
};
const factors: Readonly<Record<string, number>> = { '1K': 1, '2K': 2, '4K': 4 };

/** Draws every candidate. Null if the filter stops the prompt. */
export function drawCandidates(
  call: Call,
  config: JsonObject,
  question: Question,
  scenario: Scenario,
  thoughts: ThoughtOptions,
): ImageCandidate[] | null {
  const words = readWords(question.userText);
  if (words.refusal === 'prompt') return null;
  const imageConfig = objectAt(config, 'imageConfig');
  const modalities = modalitiesOf(config);
  const withText = modalities.length === 0 || modalities.includes('TEXT') || words.noImage;
  const images = words.noImage ? 0 : (words.images ?? 1);
  const tokens = tokensOf(call.model, stringAt(imageConfig, 'imageSize'));
  return scenario.choices.map(({ reasoning }, index): ImageCandidate => {
    if (words.refusal === 'image') return blockedCandidate(words.reason);
    const signature = reasoning ? { thoughtSignature: thoughts.sign(reasoning.nonce) } : {};
    const text = words.noImage ? 'Here are words only.' : 'Here is the demo picture.';
    const parts: JsonObject[] = [];
    if (reasoning && thoughts.include)
      parts.push({ text: reasoning.pieces.join(''), thought: true });
    if (withText) parts.push({ text, ...signature });
    for (let position = 0; position < images; position++) {
      const order = orderOf(call, imageConfig, words, index * images + position);
      const inlineData = { mimeType: `image/${order.type}`, data: imageInBase64(order) };
      parts.push({ inlineData, ...signature });
    }
    const textTokens = withText ? countTokens(text) : 0;
    return { parts, finishReason: 'STOP', textTokens, imageTokens: images * tokens };
  });
}

function blockedCandidate(reason: string): ImageCandidate {
  const finishReason = reason === '' ? 'IMAGE_SAFETY' : reason;
  return { parts: [], finishReason, textTokens: 0, imageTokens: 0 };
}

function orderOf(
  call: Call,
  imageConfig: JsonObject,
  words: PromptWords,
  position: number,
): ImageSpec {
  const { bytes, size: fault } = call.shape.images ?? {};
  const wanted = words.sizes[position] ?? words.sizes.at(-1) ?? sizeOf(imageConfig);
  return {
    ...(fault === undefined || fault === 'missing' ? wanted : fault),
    type: words.type ?? 'png',
    seed: seedOf(call, position),
    ...(bytes !== undefined && { bytes }),
  };
}

function sizeOf(imageConfig: JsonObject): Dimensions {
  const [width, height] = sides[stringAt(imageConfig, 'aspectRatio')] ?? [1024, 1024];
  const factor = factors[stringAt(imageConfig, 'imageSize')] ?? 1;
  return { width: width * factor, height: height * factor };
}

/** Tokens of one picture. The older models have one size. */
function tokensOf(model: string, imageSize: string): number {
  if (model.startsWith('gemini-2')) return 1290;
  return imageSize === '4K' ? 2000 : 1120;
}
