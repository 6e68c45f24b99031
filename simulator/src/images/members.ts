import { stringAt, type JsonObject } from '../json.ts';
import { missing, wrongValue } from '../openai/protocol.ts';
import { namedSizes, parseSize } from '../image-files/size.ts';
import { Rejection } from '../rejection.ts';
import {
  anything,
  boolean,
  checkMembers,
  integer,
  oneOf,
  text,
  type Check,
  type Checks,
} from './checks.ts';
import { familyOf, takesAnySize, type Family } from './family.ts';

/** Members of both endpoints, by family. A family refuses what it does not name. */
const members: Readonly<Record<Family, Checks>> = {
  'gpt-image': {
    ...common(32_000),
    size: anything,
    quality: oneOf('auto', 'low', 'medium', 'high'),
    ...appearance(),
  },
  'dall-e-2': {
    ...common(1000),
    size: oneOf('256x256', '512x512', '1024x1024'),
    response_format: oneOf('url', 'b64_json'),
  },
  'dall-e-3': {
    ...common(4000),
    n: integer(1, 1),
    size: oneOf('1024x1024', '1792x1024', '1024x1792'),
    quality: oneOf('standard', 'hd'),
    style: oneOf('vivid', 'natural'),
    response_format: oneOf('url', 'b64_json'),
  },
  demo: {
    ...common(32_000),
    size: checkAnySize,
    quality: oneOf('auto', 'low', 'medium', 'high', 'standard', 'hd'),
    style: oneOf('vivid', 'natural'),
    response_format: oneOf('url', 'b64_json'),
    ...appearance(),
  },
};

function common(longestPrompt: number): Checks {
  return { model: text(), prompt: text(longestPrompt), n: integer(1, 10), user: text() };
}

function appearance(): Checks {
  return {
    background: oneOf('auto', 'transparent', 'opaque'),
    output_format: oneOf('png', 'jpeg', 'webp'),
    output_compression: integer(0, 100),
    moderation: oneOf('auto', 'low'),
    stream: boolean,
    partial_images: integer(0, 3),
  };
}

/** Checks the members of a request, `more` among them. @throws Rejection */
export function checkImageMembers(body: JsonObject, model: string, more: Checks = {}): void {
  const family = familyOf(model);
  checkMembers(body, { ...members[family], ...more });
  const prompt = stringAt(body, 'prompt');
  if (prompt === '') throw missing('prompt');
  if (family === 'gpt-image') checkGptSize(model, body['size'] ?? 'auto');
  checkTransparency(body, model);
  if (family === 'gpt-image') checkCompression(body);
}

function checkGptSize(model: string, size: unknown): void {
  if (!takesAnySize(model) || typeof size !== 'string') {
    oneOf('1024x1024', '1024x1536', '1536x1024', 'auto')('size', size);
    return;
  }
  if (size === 'auto') return;
  const sides = parseSize(size);
  const [short, long] = sides ? [sides.width, sides.height].toSorted((a, b) => a - b) : [];
  const fits =
    short !== undefined &&
    long !== undefined &&
    short % 16 === 0 &&
    long % 16 === 0 &&
    long <= 3 * short &&
    long <= 3840 &&
    short <= 2160;
  if (fits) return;
  throw new Rejection(
    400,
    `Invalid size '${size}'. Width and height must be divisible by 16, have an aspect ratio between 1:3 and 3:1, and be at most 3840x2160.`,
    { param: 'size', code: 'invalid_value' },
  );
}

const checkedSizes = ['auto', ...Object.keys(namedSizes)];

function checkAnySize(...[param, value]: Parameters<Check>): void {
  if (typeof value === 'string' && parseSize(value)) return;
  oneOf(...checkedSizes)(param, value);
}

function checkTransparency(body: JsonObject, model: string): void {
  if (body['background'] !== 'transparent') return;
  if (takesAnySize(model)) throw wrongValue('background', 'transparent', ['auto', 'opaque']);
  if (body['output_format'] !== 'jpeg') return;
  throw new Rejection(400, 'Transparent background is not supported for JPEG output format.', {
    param: 'background',
    code: 'invalid_value',
  });
}

/** A PNG is never compressed with losses. */
function checkCompression(body: JsonObject): void {
  const compression = body['output_compression'] ?? 100;
  const format = body['output_format'] ?? 'png';
  if (compression === 100 || format !== 'png') return;
  throw new Rejection(400, 'Compression less than 100 is not supported for PNG output format.', {
    param: 'output_compression',
    code: 'invalid_png_output_compression',
  });
}
