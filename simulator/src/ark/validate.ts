import { isObject, isPresent, objectAt, objectsIn, stringAt, type JsonObject } from '../json.ts';
import { readImage, type ImageHead } from '../image-files/read-image.ts';
import { parseSize } from '../image-files/size.ts';
import { Rejection } from '../rejection.ts';
import type { ModelRules } from './model-rules.ts';
import { invalidParameter, missingParameter } from './protocol.ts';

/** A picture of the request. Null: at an address, which the simulator never opens. */
export type Reference = ImageHead | null;

/** Reads the references of a request and refuses what Ark refuses; unknown members pass. @throws Rejection */
export function validateArk(given: unknown, model: string, rules: ModelRules) {
  if (!isObject(given)) throw new Rejection(400, 'The request body is not a JSON object.');
  if (model.startsWith('missing-')) {
    throw new Rejection(
      404,
      `The model or endpoint ${model} does not exist or you do not have access to it.`,
    );
  }
  checkTypes(given);
  const layers = given['layer_decomposition'] === true;
  if (stringAt(given, 'prompt') === '' && !layers) throw missingParameter('prompt');
  const references = readReferences(given['image'], rules);
  checkSize(given['size'], rules, layers);
  if (layers) checkLayers(given, references, rules);
  checkBackground(given, references);
  if (given['stream'] === true && !rules.streams) {
    throw invalidParameter('stream', 'the model does not support streaming');
  }
  checkSet(given, rules);
  for (const param of ['seed', 'guidance_scale']) {
    if (isPresent(given[param]) && !rules.seeds) {
      throw invalidParameter(param, 'the model does not support it');
    }
  }
  return { body: given, references };
}

const choices: Readonly<Record<string, readonly string[]>> = {
  background: ['auto', 'transparent', 'opaque'],
  output_format: ['png', 'jpeg'],
  response_format: ['url', 'b64_json'],
  sequential_image_generation: ['auto', 'disabled'],
};
const types: Readonly<Record<string, 'string' | 'boolean' | 'number' | 'object'>> = {
  prompt: 'string',
  size: 'string',
  layer_decomposition: 'boolean',
  stream: 'boolean',
  watermark: 'boolean',
  seed: 'number',
  guidance_scale: 'number',
  sequential_image_generation_options: 'object',
  optimize_prompt_options: 'object',
};

function checkTypes(body: JsonObject): void {
  for (const [param, type] of Object.entries(types)) {
    const value = body[param];
    const fits = type === 'object' ? isObject(value) : typeof value === type;
    if (isPresent(value) && !fits) throw invalidParameter(param, `expected a ${type}`);
  }
  for (const [param, allowed] of Object.entries(choices)) {
    const value = body[param];
    if (isPresent(value) && !allowed.includes(value as string)) {
      throw invalidParameter(param, `expected one of ${allowed.join(', ')}`);
    }
  }
  const { tools } = body;
  const known = objectsIn(tools).every((tool) => tool['type'] === 'web_search');
  if (isPresent(tools) && !(Array.isArray(tools) && known)) {
    throw invalidParameter('tools', 'expected a list of web_search tools');
  }
}

function readReferences(image: unknown, rules: ModelRules): Reference[] {
  if (!isPresent(image)) return [];
  const list: readonly unknown[] = Array.isArray(image) ? image : [image];
  const most = rules.mostReferences;
  if (list.length === 0) throw invalidParameter('image', 'expected at least one picture');
  if (list.length > most) throw invalidParameter('image', `expected at most ${most} pictures`);
  return list.map((entry) => readReference(entry, rules));
}

const mostBytes = 30 * 2 ** 20;

function readReference(value: unknown, rules: ModelRules): Reference {
  if (typeof value !== 'string') throw invalidParameter('image', 'expected a string');
  if (/^https?:\/\/[^/]/.test(value)) return null;
  const [head = '', data] = value.split(',', 2);
  // The type in lower case, as Ark insists.
  const isData = data !== undefined && /^data:image\/[a-z]+;base64$/.test(head);
  const encoded = isData ? data : rules.bareReferences ? value : '';
  if (encoded === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) {
    throw invalidParameter('image', 'expected an http(s) URL or data:image/<type>;base64,<data>');
  }
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length > mostBytes) throw invalidParameter('image', 'the picture is above 30 MB');
  const image = readImage(bytes);
  if (image === null) throw invalidParameter('image', 'the data is not a picture');
  return image;
}

function checkSize(size: unknown, rules: ModelRules, layers: boolean): void {
  if (!isPresent(size)) return;
  const text = String(size);
  if (rules.namedSizes.includes(text) || (layers && text === 'auto') || parseSize(text)) return;
  throw invalidParameter('size', `expected ${rules.namedSizes.join(', ')} or <width>x<height>`);
}

function checkLayers(body: JsonObject, references: readonly Reference[], rules: ModelRules): void {
  if (!rules.layers) throw invalidParameter('layer_decomposition', 'the model does not support it');
  if (references.length !== 1) {
    throw invalidParameter('image', 'layer_decomposition needs exactly one picture');
  }
  if (isPresent(body['background'])) {
    throw invalidParameter('background', 'not supported together with layer_decomposition');
  }
}

function checkBackground(body: JsonObject, references: readonly Reference[]): void {
  if (body['background'] !== 'transparent') return;
  const [first] = references;
  const fits = first === null || (first?.type === 'png' && first.alpha);
  if (!fits) throw invalidParameter('background', 'transparent needs a PNG with an alpha channel');
  if (body['output_format'] === 'jpeg') {
    throw invalidParameter('background', 'transparent needs the output format png');
  }
}

function checkSet(body: JsonObject, rules: ModelRules): void {
  const isSet = body['sequential_image_generation'] === 'auto';
  if (isSet && !rules.sets) {
    throw invalidParameter('sequential_image_generation', 'the model does not support it');
  }
  const most = objectAt(body, 'sequential_image_generation_options')['max_images'];
  if (!isPresent(most)) return;
  if (typeof most === 'number' && Number.isInteger(most) && most >= 1 && most <= 15) return;
  throw invalidParameter('sequential_image_generation_options.max_images', 'expected 1 to 15');
}
