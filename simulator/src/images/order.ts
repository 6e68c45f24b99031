import { stringAt, type JsonObject } from '../json.ts';
import type { ImageType } from '../image-files/order.ts';
import type { ShownAs } from '../image-files/show.ts';
import { readSize } from '../image-files/size.ts';
import { readWords, type PromptWords } from '../image-files/words.ts';
import type { Call } from '../http/call.ts';
import type { Dimensions } from '../scenario/scenario.ts';
import { familyOf, type Family } from './family.ts';

/** What a checked request asks for, its defaults filled in. */
export interface ImageOrder {
  readonly model: string;
  readonly family: Family;
  readonly isEdit: boolean;
  readonly prompt: string;
  readonly words: PromptWords;
  readonly count: number;
  /** Of each picture in turn. */
  sizeOf(position: number): Dimensions;
  readonly type: ImageType;
  readonly transparent: boolean;
  readonly quality: string;
  readonly shownAs: ShownAs;
  readonly sources: number;
  readonly stream: boolean;
  readonly partials: number;
}

const square: Dimensions = { width: 1024, height: 1024 };

export function readOrder(
  call: Call,
  body: JsonObject,
  sources: number,
  isEdit: boolean,
): ImageOrder {
  const family = familyOf(call.model);
  const prompt = stringAt(body, 'prompt');
  const words = readWords(prompt);
  const requested = readSize(stringAt(body, 'size')) ?? square;
  const fault = call.shape.images?.size;
  const quality = stringAt(body, 'quality');
  const usual = family === 'dall-e-2' || family === 'dall-e-3' ? 'url' : 'b64_json';
  return {
    model: call.model,
    family,
    isEdit,
    prompt,
    words,
    count: Number(body['n'] ?? 1),
    sizeOf(position) {
      if (fault !== undefined && fault !== 'missing') return fault;
      if (family !== 'demo') return requested;
      return words.sizes[position] ?? words.sizes.at(-1) ?? requested;
    },
    type: (body['output_format'] ?? 'png') as ImageType,
    transparent: body['background'] === 'transparent',
    quality: quality === '' || quality === 'auto' ? 'medium' : quality,
    shownAs: (body['response_format'] ?? usual) as ShownAs,
    sources,
    stream: body['stream'] === true,
    partials: Number(body['partial_images'] ?? 0),
  };
}
