import type { Call } from '../http/call.ts';
import type { FormPart } from '../http/form.ts';
import { isPresent, type JsonObject } from '../json.ts';
import { missing, requireObject, wrongType } from '../openai/protocol.ts';
import { Rejection } from '../rejection.ts';
import { anything, oneOf } from './checks.ts';
import { familyOf } from './family.ts';
import { checkImageMembers } from './members.ts';
import {
  checkDeclaredType,
  checkMask,
  mostSources,
  readImageObject,
  readReference,
  readSource,
  type Source,
} from './sources.ts';

/** The members of an edit, whatever form they came in, and its pictures. */
export interface EditRequest {
  readonly body: JsonObject;
  readonly sources: readonly Source[];
}

/** Reads a form or a JSON body, and refuses what the vendor refuses. @throws Rejection */
export function readEdit(call: Call): EditRequest {
  const { model } = call;
  if (familyOf(model) === 'dall-e-3') {
    throw new Rejection(400, `The model '${model}' does not support image edits.`, {
      param: 'model',
      code: 'invalid_value',
    });
  }
  const edit = call.form === null ? readJsonEdit(call) : readForm(call.form, model);
  checkImageMembers(edit.body, model, {
    ...(familyOf(model) !== 'dall-e-2' && { input_fidelity: oneOf('high', 'low') }),
    ...(call.form === null && { images: anything, mask: anything }),
    ...(call.form === null && familyOf(model) === 'demo' && { image: anything }),
  });
  const { sources, mask } = edit;
  if (sources.length === 0) throw missing('image');
  const most = familyOf(model) === 'dall-e-2' ? 1 : mostSources;
  if (sources.length > most) {
    throw new Rejection(
      400,
      `Invalid 'image': array too long. Expected an array with maximum length ${most}, but got an array with length ${sources.length} instead.`,
      { param: 'image', code: 'array_above_max_length' },
    );
  }
  if (mask !== undefined) checkMask(mask, sources[0]);
  return edit;
}

interface ReadEdit extends EditRequest {
  readonly mask: Source | undefined;
}

function readForm(parts: readonly FormPart[], model: string): ReadEdit {
  const isStrict = familyOf(model) !== 'demo';
  const body: JsonObject = {};
  const sources: Source[] = [];
  let mask: Source | undefined;
  for (const part of parts) {
    const { name } = part;
    if (/^image(?:\[\d{0,2}\])?$/.test(name)) sources.push(readFile(part, isStrict));
    else if (Object.hasOwn(body, name) || (name === 'mask' && mask !== undefined)) {
      throw duplicate(name);
    } else if (name === 'mask') mask = readFile(part, isStrict);
    else if (part.filename !== null) throw wrongType(name, 'a string', {});
    else body[name] = readField(name, part.bytes.toString('utf8'));
  }
  return { body, sources, mask };
}

/** Demo models judge a file by its bytes alone. */
function readFile(part: FormPart, isStrict: boolean): Source {
  if (part.filename === null) {
    throw new Rejection(
      400,
      `Invalid type for '${part.name}': expected a file, but got a string instead.`,
      { param: part.name, code: 'invalid_type' },
    );
  }
  if (isStrict && part.bytes.length > 0) checkDeclaredType(part.name, part.contentType);
  return readSource(part.name, part.bytes);
}

function duplicate(param: string): Rejection {
  return new Rejection(
    400,
    `Duplicate parameter: '${param}'. You provided multiple values for this parameter, whereas only one is allowed.`,
    { param, code: 'duplicate_parameter' },
  );
}

const numbers = ['n', 'output_compression', 'partial_images'];

/** Every field of a form is text. Any other text stays text, which the check of a number or boolean refuses. */
function readField(name: string, text: string): unknown {
  if (numbers.includes(name) && /^\d{1,9}$/.test(text)) return Number(text);
  if (name === 'stream' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function readJsonEdit(call: Call): ReadEdit {
  const body = requireObject(call.body);
  const demo = familyOf(call.model) === 'demo';
  const { images, mask } = body;
  if (isPresent(images) && !Array.isArray(images)) throw wrongType('images', 'an array', images);
  const sources = ((images ?? []) as unknown[]).map((image, index) =>
    readImageObject(`images[${index}]`, image, demo),
  );
  if (demo && isPresent(body['image'])) sources.push(...readReferences(body['image']));
  return { body, sources, mask: isPresent(mask) ? readMask(mask, demo) : undefined };
}

function readMask(mask: unknown, demo: boolean): Source {
  return demo && typeof mask === 'string'
    ? readReference('mask', mask, true)
    : readImageObject('mask', mask, demo);
}

/** The member `image` of a demo model: a text or a list of texts. */
export function readReferences(image: unknown): Source[] {
  const list: readonly unknown[] = Array.isArray(image) ? image : [image];
  if (list.length === 0 || list.length > mostSources) {
    throw new Rejection(400, `Invalid 'image': expected 1 to ${mostSources} pictures.`, {
      param: 'image',
      code: 'invalid_value',
    });
  }
  return list.map((entry, index) =>
    readReference(Array.isArray(image) ? `image[${index}]` : 'image', entry, true),
  );
}
