import { GatewayError } from '#errors/index.ts';
import { requestedTerms } from '../shared/usage/terms.ts';
import { readInteger, readImageValues, readWord } from '../shared/images/image-values.ts';
import { readFlag, refuseValue, requireOneOf } from '../shared/text/request-values.ts';
import { isAbsent, isRecord, recordAt, type JsonRecord } from '../shared/values.ts';
import { isImageText } from './image-type.ts';
import type { ImagesRequest, OpenedImages } from './types.ts';

/** The most images that one request may send, and that a set may have. */
const most = { sources: 16, inSet: 15 } as const;

type Opened = Omit<OpenedImages, 'body'>;
type Read = Omit<ImagesRequest, 'body'>;

/** In bytes. */
const largestFile = 50 * 1024 * 1024;

/**
 * Reads the values that the gateway acts on, and checks those that it insists on: what is missing first, then what is
 * wrong, then what the model cannot do.
 * @param capabilities of the model, by the catalogue's names
 * @throws GatewayError `missing_parameter`, `invalid_value`.
 */
export function readRequest<Body>(
  openedImages: OpenedImages<Body>,
  capabilities: ReadonlySet<string>,
): ImagesRequest<Body> {
  const { members } = openedImages;
  requireMembers(openedImages);
  checkPrompt(members);
  const { count, size } = readImageValues(members);
  readWord(members, 'response_format', 'url b64_json');
  readInteger(members, 'output_compression', 0, 100);
  readInteger(members, 'partial_images', 0, 3);
  const stream = readFlag(members['stream'], 'stream');
  const layers = readFlag(members['layer_decomposition'], 'layer_decomposition');
  const request = {
    ...openedImages,
    stream,
    images: Math.max(count ?? 1, imagesOfSet(members)),
    size,
    layers,
    sources: readSources(openedImages),
    terms: requestedTerms(members, 'service_tier'),
  };
  checkTogether(request);
  checkCapabilities(request, capabilities);
  return request;
}

/** @throws GatewayError `missing_parameter` */
function requireMembers({ form, members, files }: Opened): void {
  if (members['layer_decomposition'] !== true) requireOneOf([members['prompt']], 'prompt');
  if (form === 'generation' || files.some(({ field }) => field === 'image')) return;
  requireOneOf([members['image'], members['images']], 'image');
}

function checkPrompt(members: JsonRecord): void {
  const prompt = members['prompt'];
  if (isAbsent(prompt)) return;
  if (typeof prompt !== 'string') refuseValue('prompt', 'must be a text');
  if (prompt === '' && members['layer_decomposition'] !== true) {
    refuseValue('prompt', 'must not be empty');
  }
}

/** How many images the model may draw as a set for one request: the most that are possible if the request does not say. */
function imagesOfSet(members: JsonRecord): number {
  const mode = members['sequential_image_generation'];
  // Of another word nobody knows what an upstream makes of it.
  if (isAbsent(mode) || mode === 'disabled') return 1;
  const value = recordAt(members, 'sequential_image_generation_options')['max_images'];
  if (isAbsent(value)) return most.inSet;
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most.inSet) {
    return value as number;
  }
  const param = 'sequential_image_generation_options.max_images';
  return refuseValue(param, `must be an integer from 1 to ${most.inSet}`);
}

function readSources(openedImages: Opened): number {
  if (openedImages.encoding === 'multipart') return readFiles(openedImages);
  const { image, images, mask } = openedImages.members;
  if (openedImages.form === 'generation') return checkReferences(image, 'image');
  if (!isAbsent(mask)) checkReference(mask, 'mask');
  if (isAbsent(images)) return checkReferences(image, 'image');
  if (!isAbsent(image)) refuseValue('image', 'cannot be combined with images');
  const list = listOf(images, 'images');
  for (const [index, source] of list.entries()) checkReference(source, `images[${index}]`);
  return list.length;
}

function readFiles({ files }: Opened): number {
  const count = files.filter(({ field }) => field === 'image').length;
  if (count > most.sources) refuseValue('image', `must be at most ${most.sources} pictures`);
  for (const { name, isFile, type, bytes } of files) {
    const length = bytes.end - bytes.start;
    if (!isFile) refuseValue(name, 'must be a file');
    if (length === 0) refuseValue(name, 'must not be an empty file');
    if (length > largestFile) refuseValue(name, 'must have at most 50 MB');
    if (type === null) refuseValue(name, 'must be a PNG, JPEG or WebP picture');
  }
  return count;
}

/** A text, or a list of texts. */
function checkReferences(image: unknown, param: string): number {
  if (isAbsent(image)) return 0;
  if (!Array.isArray(image)) {
    checkImage(image, param);
    return 1;
  }
  const list = listOf(image, param);
  for (const [index, source] of list.entries()) checkImage(source, `${param}[${index}]`);
  return list.length;
}

function listOf(value: unknown, param: string): readonly unknown[] {
  if (Array.isArray(value) && value.length >= 1 && value.length <= most.sources) return value;
  return refuseValue(param, `must be a list of 1 to ${most.sources} pictures`);
}

function checkImage(value: unknown, param: string): void {
  if (typeof value === 'string' && isImageText(value)) return;
  refuseValue(
    param,
    'must be a public http(s) URL, a data URI of a picture, or a picture in Base64',
  );
}

const places = ['image_url', 'url', 'file_id'] as const;

/** An object that names an image in one of the three ways; a text is one too. */
function checkReference(value: unknown, param: string): void {
  if (!isRecord(value)) return checkImage(value, param);
  const namedPlaces = places.filter((place) => !isAbsent(value[place]));
  const [place] = namedPlaces;
  if (place === undefined || namedPlaces.length > 1) {
    refuseValue(param, `must have exactly one of ${places.join(', ')}`);
  }
  const reference = value[place];
  if (place !== 'file_id') return checkImage(reference, `${param}.${place}`);
  if (typeof reference !== 'string' || reference === '') {
    refuseValue(`${param}.file_id`, 'must be the id of a file');
  }
}

function checkTogether({ form, stream, layers, sources }: Read): void {
  if (layers && sources !== 1) {
    refuseValue('image', 'must be exactly one picture with layer_decomposition');
  }
  if (!stream) return;
  if (layers) refuseValue('stream', 'cannot be true with layer_decomposition');
  if (form === 'generation' && sources > 0) refuseValue('stream', 'cannot be true with image');
}

function checkCapabilities(request: Read, can: ReadonlySet<string>): void {
  const { form, model, layers, sources, stream } = request;
  if (form === 'edit' && !can.has('edits')) throw unable(model, 'model', 'edit pictures');
  if (layers && !can.has('layers')) {
    throw unable(model, 'layer_decomposition', 'decompose pictures into layers');
  }
  if (form === 'generation' && sources > 0 && !layers && !can.has('multi_reference')) {
    throw unable(model, 'image', 'use reference pictures');
  }
  if (stream && !can.has('streaming')) throw unable(model, 'stream', 'stream pictures');
}

function unable(model: string, param: string, what: string): GatewayError {
  const reason = `${param === 'model' ? '' : `${param}: `}model '${model}' cannot ${what}`;
  return new GatewayError('invalid_value', { values: { reason }, param });
}
