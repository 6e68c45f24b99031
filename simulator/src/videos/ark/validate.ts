import { invalidParameter, missingParameter } from '../../ark/protocol.ts';
import { isObject, isPresent, objectAt, objectsIn, stringAt, type JsonObject } from '../../json.ts';
import { Rejection } from '../../rejection.ts';

/** What a valid submit asks for. */
export interface Submit {
  readonly body: JsonObject;
  readonly seconds: number;
  readonly resolution: string;
  readonly prompt: string;
  readonly expiresAfterMs: number;
}

const known = new Set(
  `model content resolution ratio duration seed camera_fixed watermark generate_audio return_last_frame draft
  service_tier execution_expires_after callback_url tools safety_identifier priority output_format
  omni_reference_task_type`.split(/\s+/),
);
const choices: Readonly<Record<string, readonly string[]>> = {
  resolution: ['480p', '720p', '1080p', '4k'],
  ratio: ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive'],
  service_tier: ['default', 'flex'],
  output_format: ['mp4', 'mov'],
};
const flags = ['camera_fixed', 'watermark', 'generate_audio', 'return_last_frame', 'draft'];
const numbers: Readonly<Record<string, readonly [least: number, most: number]>> = {
  duration: [4, 15],
  seed: [-1, 2 ** 32 - 1],
  execution_expires_after: [3_600, 259_200],
};
const roles: Readonly<Record<string, readonly string[]>> = {
  image_url: ['first_frame', 'last_frame', 'reference_image'],
  video_url: ['reference_video'],
  audio_url: ['reference_audio'],
};

/** Refuses what the vendor refuses, unknown members too. @throws Rejection */
export function validateSubmit(given: unknown): Submit {
  if (!isObject(given)) throw new Rejection(400, 'The request body is not a JSON object.');
  const model = stringAt(given, 'model');
  if (model === '') throw missingParameter('model');
  if (model.startsWith('missing-')) {
    throw new Rejection(404, `The model or endpoint ${model} does not exist.`);
  }
  for (const name of Object.keys(given)) {
    if (!known.has(name)) throw invalidParameter(name, 'unknown parameter');
  }
  checkValues(given);
  checkContent(given['content']);
  const texts = objectsIn(given['content']).map((entry) => stringAt(entry, 'text'));
  return {
    body: given,
    seconds: Number(given['duration'] ?? 5),
    resolution: stringAt(given, 'resolution') || '720p',
    prompt: texts.filter((text) => text !== '').join('\n'),
    expiresAfterMs: Number(given['execution_expires_after'] ?? 172_800) * 1_000,
  };
}

function checkValues(body: JsonObject): void {
  for (const [name, allowed] of Object.entries(choices)) {
    if (isPresent(body[name]) && !allowed.includes(String(body[name]))) {
      throw invalidParameter(name, `it must be one of ${allowed.join(', ')}`);
    }
  }
  for (const name of flags) {
    if (isPresent(body[name]) && typeof body[name] !== 'boolean') {
      throw invalidParameter(name, 'it must be a boolean');
    }
  }
  for (const [name, [least, most]] of Object.entries(numbers)) {
    const value = body[name];
    if (!isPresent(value)) continue;
    if (!Number.isInteger(value) || Number(value) < least || Number(value) > most) {
      throw invalidParameter(name, `it must be an integer from ${least} to ${most}`);
    }
  }
}

function checkContent(content: unknown): void {
  if (!Array.isArray(content) || content.length === 0) throw missingParameter('content');
  for (const [at, entry] of content.entries()) {
    const place = `content[${at}]`;
    const type = stringAt(entry, 'type');
    if (type === 'text') {
      if (stringAt(entry, 'text') === '') throw missingParameter(`${place}.text`);
      continue;
    }
    const allowed = roles[type];
    if (allowed === undefined) throw invalidParameter(`${place}.type`, 'unknown type');
    const url = stringAt(objectAt(entry, type), 'url');
    if (!/^(?:https?:\/\/|data:|asset:\/\/)/.test(url)) {
      throw invalidParameter(`${place}.${type}.url`, 'it must be an address');
    }
    const role = (entry as JsonObject)['role'];
    if (isPresent(role) && !allowed.includes(String(role))) {
      throw invalidParameter(`${place}.role`, `it must be one of ${allowed.join(', ')}`);
    }
  }
}
