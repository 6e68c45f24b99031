import type {
  PictureCall,
  PictureDefaults,
  PictureRequest,
  PictureResponse,
} from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { LongText, writeJson, writeJsonPieces } from '#json/index.ts';
import { formatOf } from '../picture-text.ts';
import { readPictureValues } from '../picture-values.ts';
import { isAbsent, isRecord, type JsonRecord } from '../values.ts';

/** The type of the tool, and the name of the function that a model gets in its place. */
const toolName = 'image_generation';

const itemType = 'image_generation_call';

/** Members of the tool that a picture can be asked for with. */
const kept: ReadonlySet<string> = new Set([
  'type',
  'size',
  'quality',
  'background',
  'output_format',
  'moderation',
]);

/**
 * What the client's tool says of every picture.
 * @returns with the members that no picture can be asked for with
 * @throws GatewayError `invalid_value`
 */
function readTool(tool: JsonRecord): {
  readonly defaults: PictureDefaults;
  readonly others: readonly string[];
} {
  try {
    // An item has room for one picture, so a number of them says nothing.
    const { count: _, ...defaults } = readPictureValues({ ...tool, n: undefined });
    const others = Object.entries(tool)
      .filter(([name, value]) => !kept.has(name) && !isAbsent(value) && !isUsual(name, value))
      .map(([name]) => name);
    return { defaults: withoutAuto(defaults), others };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const reason = `tools: ${toolName}: ${error.message}`;
    throw new GatewayError('invalid_value', { values: { reason }, param: 'tools' });
  }
}

/** It asks for what happens anyway. */
function isUsual(name: string, value: unknown): boolean {
  switch (name) {
    case 'action':
      return value === 'auto' || value === 'generate';
    case 'partial_images':
      return value === 0;
    case 'n':
      return value === 1;
    default:
      return false;
  }
}

function withoutAuto(defaults: PictureDefaults): PictureDefaults {
  const known = (value: string | null) => (value === 'auto' ? null : value);
  const { size, quality, background, moderation } = defaults;
  return {
    ...defaults,
    size: known(size),
    quality: known(quality),
    background: known(background),
    moderation: known(moderation),
  };
}

const sizes = ['auto', '1024x1024', '1536x1024', '1024x1536'];
const qualities = ['auto', 'low', 'medium', 'high'];
const backgrounds = ['auto', 'transparent', 'opaque'];

/** The arguments of the function. What the client's tool says is the only choice. */
function argumentsSchema(defaults: PictureDefaults): JsonRecord {
  const one = (value: string | null, choices: readonly string[], description: string) => ({
    type: 'string',
    enum: value === null ? choices : [value],
    description,
  });
  return {
    type: 'object',
    properties: {
      prompt: { type: 'string', description: 'What the picture shows, in full.' },
      size: one(defaults.size, sizes, 'Width and height in pixels.'),
      quality: one(defaults.quality, qualities, 'A better quality costs more.'),
      background: one(defaults.background, backgrounds, 'The background of the picture.'),
    },
    required: ['prompt'],
    additionalProperties: false,
  };
}

const description =
  'Draws one picture from a description and shows it to the user. The picture cannot be changed afterwards.';

/**
 * The request that a call stands for. What the client's tool says wins, and what the model invented is left out.
 * @throws GatewayError `invalid_value` if there is nothing to draw
 */
function readCall(text: string, defaults: PictureDefaults): PictureRequest {
  const given = parseArguments(text);
  const { prompt } = given;
  if (typeof prompt !== 'string' || prompt.trim() === '') {
    const reason = `${toolName}: the model gave no prompt`;
    throw new GatewayError('invalid_value', { values: { reason } });
  }
  const { size, quality, background, format, moderation } = defaults;
  const asked = withoutAuto({
    format,
    moderation,
    size: size ?? readOne(given, 'size'),
    quality: quality ?? readOne(given, 'quality'),
    background: background ?? readOne(given, 'background'),
  });
  return {
    prompt,
    sources: [],
    mask: null,
    count: null,
    shape: asked.size === null ? null : { kind: 'size', size: asked.size },
    quality: asked.quality,
    background: asked.background === 'transparent' && format === 'jpeg' ? null : asked.background,
    format,
    moderation: asked.moderation,
    others: [],
  };
}

function parseArguments(text: string): JsonRecord {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function readOne(given: JsonRecord, name: 'size' | 'quality' | 'background'): string | null {
  try {
    return readPictureValues({ [name]: given[name] })[name];
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

/** The item of a picture that was drawn, in pieces: the picture is not copied. Its bytes must be in Base64. */
function encodeItem(id: string, request: PictureRequest, { pictures }: PictureResponse): Buffer[] {
  const [picture] = pictures;
  if (picture?.source.kind !== 'base64') throw new TypeError('a picture is not in Base64');
  const { source, size, revisedPrompt } = picture;
  const { quality, background } = request;
  return writeJsonPieces({
    id,
    type: itemType,
    status: 'completed',
    ...(background !== null && { background }),
    output_format: source.mime === null ? (request.format ?? 'png') : formatOf(source.mime),
    ...(quality !== null && { quality }),
    result: new LongText(source.base64),
    // The vendor's models write the prompt anew, and so did this one when it called.
    revised_prompt: revisedPrompt ?? request.prompt,
    ...(size !== null && { size }),
  });
}

/** The item of a call without a picture. The members of its error are those of the protocol's errors. */
function encodeFailure({ id, arguments: text }: PictureCall, error: GatewayError): Buffer {
  const { message, entry } = error;
  const { prompt } = parseArguments(text);
  return writeJson({
    id,
    type: itemType,
    status: 'failed',
    result: null,
    ...(typeof prompt === 'string' && { revised_prompt: prompt }),
    error: { code: entry.code ?? entry.type, message },
  });
}

/** Stands in a response for an item that is not drawn yet. No upstream and no client knows its id before. */
export function waitingItem(id: string): object {
  return { id, type: itemType, status: 'generating' };
}

/** The response with its items in place of those that waited, in pieces: nothing is copied. */
function withItems(response: Buffer, items: ReadonlyMap<string, Buffer>): Buffer[] {
  const found: { readonly from: number; readonly to: number; readonly item: Buffer }[] = [];
  for (const [id, item] of items) {
    const waiting = Buffer.from(JSON.stringify(waitingItem(id)));
    let from = response.indexOf(waiting);
    while (from >= 0) {
      const to = from + waiting.length;
      found.push({ from, to, item });
      from = response.indexOf(waiting, to);
    }
  }
  const pieces: Buffer[] = [];
  let at = 0;
  for (const { from, to, item } of found.toSorted((a, b) => a.from - b.from)) {
    pieces.push(response.subarray(at, from), item);
    at = to;
  }
  return [...pieces, response.subarray(at)];
}

/** The tool `image_generation` where the gateway runs it in place of the vendor. */
export const pictureTool = Object.freeze({
  name: toolName,
  description,
  readTool,
  argumentsSchema,
  readCall,
  encodeItem,
  encodeFailure,
  withItems,
});
