import {
  Unconvertible,
  type Loss,
  type ImageRequest,
  type ImageShape,
  type ImageSource,
} from '#canonical/index.ts';
import { LongText, writeJson } from '#json/index.ts';
import type { JsonRecord } from '../../shared/values.ts';

export interface EncodedImageRequest {
  readonly body: Buffer;
  readonly losses: readonly Loss[];
}

/**
 * A request for images to generate-content. Its images must be in Base64.
 * @throws Unconvertible for what would change the images and has no place there
 */
export function encodeImageRequest(request: ImageRequest): EncodedImageRequest {
  const { prompt, sources, mask, count, shape, background } = request;
  if (mask !== null) {
    throw new Unconvertible('image', 'a mask is not available with this model', 'mask');
  }
  if (background === 'transparent') {
    const reason = 'a transparent background is not available with this model';
    throw new Unconvertible('image', reason, 'background');
  }
  const losses: Loss[] = [];
  for (const name of ['quality', 'format', 'moderation'] as const) {
    if (request[name] !== null) losses.push({ what: wireNames[name], how: 'dropped' });
  }
  if (background !== null && background !== 'auto') {
    losses.push({ what: 'background', how: 'dropped' });
  }
  for (const what of request.others) losses.push({ what, how: 'dropped' });
  const frame = frameOf(shape);
  if (frame !== null && !frame.isExact) losses.push({ what: 'size', how: 'approximated' });
  const body = writeJson({
    contents: [{ role: 'user', parts: [{ text: prompt }, ...sources.map(encodeSource)] }],
    generationConfig: {
      responseModalities: ['IMAGE'],
      ...(count !== null && { candidateCount: count }),
      ...(frame !== null && { imageConfig: frame.config }),
    },
  });
  return { body, losses };
}

const wireNames = {
  quality: 'quality',
  format: 'output_format',
  moderation: 'moderation',
} as const;

/** @throws Unconvertible for a file that only its vendor has */
export function encodeSource(source: ImageSource): JsonRecord {
  if (source.kind === 'file-id') {
    throw new Unconvertible('file_id', 'please send the picture instead of the id of a file');
  }
  if (source.kind !== 'base64') throw new TypeError('a picture must be in Base64');
  const { mime, base64 } = source;
  return { inlineData: { mimeType: mime ?? 'image/png', data: new LongText(base64) } };
}

interface Frame {
  readonly config: { readonly aspectRatio?: string; readonly imageSize?: string };
  readonly isExact: boolean;
}

const ratios = '1:1 2:3 3:2 3:4 4:3 4:5 5:4 9:16 16:9 21:9'.split(' ');

/** The sides of a square of each class. */
const classes = { '1K': 1024, '2K': 2048, '4K': 4096 } as const;
type Class = keyof typeof classes;

/** Null if the client leaves it to the model. */
function frameOf(shape: ImageShape | null): Frame | null {
  if (shape === null) return null;
  if (shape.kind === 'frame') {
    const { ratio, resolution } = shape;
    const config = {
      ...(ratio !== null && { aspectRatio: ratio }),
      ...(resolution !== null && { imageSize: resolution }),
    };
    return { config, isExact: true };
  }
  const { size } = shape;
  if (size === 'auto') return null;
  const sizeMatch = /^(\d(?:\.\d)?)K$/.exec(size);
  if (sizeMatch !== null) {
    const imageSize = nearestClass(Number(sizeMatch[1]) * 1024);
    return { config: { imageSize }, isExact: imageSize === size };
  }
  const [width = 1, height = 1] = size.split('x').map(Number);
  const aspectRatio = nearestRatio(width / height);
  const side = Math.sqrt(width * height);
  const imageSize = nearestClass(side);
  const isExact = width === height && classes[imageSize] === width;
  return { config: { aspectRatio, imageSize }, isExact };
}

function nearestRatio(wantedRatio: number): string {
  const distance = (ratio: string): number => {
    const [width = 1, height = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log(wantedRatio / (width / height)));
  };
  return ratios.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}

function nearestClass(side: number): Class {
  const distance = (name: Class): number => Math.abs(Math.log(side / classes[name]));
  const names = Object.keys(classes) as Class[];
  return names.reduce((best, name) => (distance(name) < distance(best) ? name : best));
}
