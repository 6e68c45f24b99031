import type { Call } from '../http/call.ts';
import { objectAt, stringAt, type JsonObject } from '../json.ts';
import type { ImageSpec, ImageType } from '../image-files/order.ts';
import { seedOf, showImage, type ShownAs } from '../image-files/show.ts';
import { formatSize, readSize } from '../image-files/size.ts';
import { readWords } from '../image-files/words.ts';
import { Rejection } from '../rejection.ts';
import type { Dimensions } from '../scenario/scenario.ts';
import type { ModelRules } from './model-rules.ts';
import type { Reference } from './validate.ts';

/** One entry of `data[]`: a picture, or the failure of one in a set. */
export interface Entry {
  /** 0 for a failure. */
  readonly pixels: number;
  readonly members: JsonObject;
}

export interface Drawing {
  /** In their order, failures among them. */
  readonly entries: readonly Entry[];
  readonly references: number;
}

const square: Dimensions = { width: 2048, height: 2048 };
/** How many pictures a set has, and how many layers a picture, if nothing else is said. */
const usualSet = 4;
const usualLayers = 3;
/** References and pictures of a set together. */
const mostInSet = 15;

/** @throws Rejection if nothing at all, or not every layer, can be drawn */
export function draw(
  call: Call,
  body: JsonObject,
  references: readonly Reference[],
  rules: ModelRules,
): Drawing {
  const words = readWords(stringAt(body, 'prompt'));
  if (words.refusal === 'prompt') throw sensitive('InputText', 'the input text');
  const isLayered = body['layer_decomposition'] === true;
  const count = isLayered
    ? 1 + Math.min(rules.mostLayers, words.layers ?? usualLayers)
    : setSize(body, words.images, references.length);
  const sizes = sizesOf(call, body, references, words.sizes);
  const fails = (position: number) => words.refusal === 'image' || words.fails(position);
  const entries = Array.from({ length: count }, (_, position): Entry => {
    if (fails(position)) return failure;
    const size = sizes(position);
    const image = imageOf(call, body, size, isLayered && position > 0, position);
    const members = {
      ...showImage(call, image, (body['response_format'] ?? 'url') as ShownAs),
      ...(call.shape.images?.size !== 'missing' && { size: formatSize(size) }),
      // Models without layers do not state the type.
      ...(rules.layers && { output_format: image.type }),
      ...(isLayered && layerOf(call, sizes(0), size, position)),
    };
    return { pixels: size.width * size.height, members };
  });
  const good = entries.filter((entry) => entry !== failure).length;
  const isFailed = isLayered ? good < count : good === 0 && body['stream'] !== true;
  if (isFailed) throw sensitive('OutputImage', 'the output image');
  return { entries, references: references.length };
}

const failure: Entry = {
  pixels: 0,
  members: {
    error: {
      code: 'OutputImageSensitiveContentDetected',
      message: 'The request failed because the output image may contain sensitive information.',
    },
  },
};

function sensitive(part: string, what: string): Rejection {
  return new Rejection(
    400,
    `The request failed because ${what} may contain sensitive information.`,
    {
      code: `${part}SensitiveContentDetected`,
      type: '',
    },
  );
}

function setSize(body: JsonObject, named: number | null, references: number): number {
  if (body['sequential_image_generation'] !== 'auto') return 1;
  const most = objectAt(body, 'sequential_image_generation_options')['max_images'];
  const limit = Math.min(Number(most ?? mostInSet), mostInSet - references);
  return Math.max(1, Math.min(named ?? Number(most ?? usualSet), limit));
}

/** The size of each picture. Layers are smaller than their base. */
function sizesOf(
  call: Call,
  body: JsonObject,
  references: readonly Reference[],
  named: readonly Dimensions[],
): (position: number) => Dimensions {
  const fault = call.shape.images?.size;
  const [first] = references;
  const source = first && first.width > 0 && body['size'] === 'auto' ? first : null;
  const base = readSize(stringAt(body, 'size')) ?? source ?? square;
  const layer = { width: Math.ceil(base.width / 2), height: Math.ceil(base.height / 8) };
  return (position) => {
    if (fault !== undefined && fault !== 'missing') return fault;
    const isLayer = position > 0 && body['layer_decomposition'] === true;
    return named[position] ?? named.at(-1) ?? (isLayer ? layer : base);
  };
}

function imageOf(
  call: Call,
  body: JsonObject,
  size: Dimensions,
  isLayer: boolean,
  position: number,
): ImageSpec {
  const { bytes } = call.shape.images ?? {};
  const transparent = isLayer || body['background'] === 'transparent';
  const usual = transparent ? 'png' : 'jpeg';
  return {
    ...size,
    type: isLayer ? 'png' : ((body['output_format'] ?? usual) as ImageType),
    transparent,
    seed: seedOf(call, position),
    ...(bytes !== undefined && { bytes }),
  };
}

/** What says of a decomposition which entry is the base, and where its layers stand. */
function layerOf(call: Call, base: Dimensions, size: Dimensions, position: number): JsonObject {
  return {
    ...(!call.shape.images?.noDepth && { z_index: position }),
    ...(position > 0 && layerMembers(base, size, position)),
  };
}

/** Layers stand below each other, and begin again at the top where the base ends. */
function layerMembers(base: Dimensions, layer: Dimensions, position: number): JsonObject {
  const room = Math.max(1, base.height - layer.height + 1);
  const top = ((position - 1) * layer.height) % room;
  const right = Math.min(layer.width, base.width);
  const bottom = Math.min(top + layer.height, base.height);
  const share = (part: number, whole: number) => Math.round((1000 * part) / whole);
  return {
    bounding_box: {
      absolute: [0, top, right, bottom],
      normalized: [
        0,
        share(top, base.height),
        share(right, base.width),
        share(bottom, base.height),
      ],
    },
    name: `Layer ${position}`,
    description: `Layer ${position} of the demo picture`,
  };
}
