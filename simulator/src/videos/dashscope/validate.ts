import { isObject, isPresent, objectAt, stringAt, type JsonObject } from '../../json.ts';
import { Rejection } from '../../rejection.ts';
import { invalidParameter } from './protocol.ts';

/** What a valid submit asks for. */
export interface Submit {
  readonly body: JsonObject;
  readonly seconds: number;
  readonly resolution: string;
  readonly prompt: string;
}

const resolutions = ['480P', '720P', '1080P'];
/** By the largest number of pixels. */
const sizes = [
  [420_000, '480P'],
  [1_000_000, '720P'],
  [2_100_000, '1080P'],
] as const;
const flags = ['prompt_extend', 'watermark', 'audio'];

/** Refuses what the vendor refuses; unknown members pass. @throws Rejection */
export function validateSubmit(given: unknown): Submit {
  if (!isObject(given)) throw invalidParameter('The request body is not a JSON object.');
  const model = stringAt(given, 'model');
  if (model === '') throw invalidParameter('Required parameter(model) missing or invalid.');
  if (model.startsWith('missing-')) throw new Rejection(404, 'Model not exist.');
  if (!isObject(given['input'])) {
    throw invalidParameter('Required parameter(input) missing or invalid.');
  }
  checkInput(given['input']);
  const parameters = objectAt(given, 'parameters');
  if (isPresent(given['parameters']) && !isObject(given['parameters'])) {
    throw invalidParameter('Field required: parameters must be an object.');
  }
  for (const name of flags) {
    if (isPresent(parameters[name]) && typeof parameters[name] !== 'boolean') {
      throw invalidParameter(`${name} must be a boolean.`);
    }
  }
  return {
    body: given,
    seconds: readDuration(parameters['duration']),
    resolution: readResolution(parameters),
    prompt: stringAt(given['input'], 'prompt'),
  };
}

function checkInput(input: JsonObject): void {
  if (Object.keys(input).length === 0) throw invalidParameter('input is empty.');
  for (const name of ['prompt', 'negative_prompt', 'img_url', 'audio_url', 'template']) {
    if (isPresent(input[name]) && typeof input[name] !== 'string') {
      throw invalidParameter(`input.${name} must be a string.`);
    }
  }
  const image = stringAt(input, 'img_url');
  if (
    image !== '' &&
    !/^(?:https?:\/\/|oss:\/\/|data:image\/(?:jpe?g|png|bmp|webp);base64,)/.test(image)
  ) {
    throw new Rejection(400, 'The input image address is invalid.', { code: 'InvalidURL' });
  }
}

function readDuration(value: unknown): number {
  if (!isPresent(value)) return 5;
  if (!Number.isInteger(value) || Number(value) < 3 || Number(value) > 15) {
    throw invalidParameter('duration must be an integer from 3 to 15.');
  }
  return Number(value);
}

function readResolution({ resolution, size }: JsonObject): string {
  if (isPresent(resolution) && isPresent(size)) {
    throw invalidParameter('resolution and size cannot be used together.');
  }
  if (isPresent(size)) {
    const sides = /^(\d{2,5})\*(\d{2,5})$/.exec(String(size));
    const pixels = Number(sides?.[1]) * Number(sides?.[2]);
    const tier = sizes.find(([most]) => pixels <= most);
    if (tier === undefined) throw invalidParameter('size is not supported.');
    return tier[1];
  }
  if (!isPresent(resolution)) return '1080P';
  if (!resolutions.includes(String(resolution))) {
    throw invalidParameter(`resolution must be one of ${resolutions.join(', ')}.`);
  }
  return String(resolution);
}
