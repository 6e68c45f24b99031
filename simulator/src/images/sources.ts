import { isObject, isPresent, stringAt, type JsonObject } from '../json.ts';
import { missing, wrongType } from '../openai/protocol.ts';
import { readImage, type ImageHead } from '../image-files/read-image.ts';
import { Rejection } from '../rejection.ts';
import { unknownParameter } from './checks.ts';

/** One picture of a request. Null: at an address, which the simulator never opens. */
export type Source = ImageHead | null;

export const mostSources = 16;
const mostBytes = 50 * 2 ** 20;
const types: readonly string[] = ['png', 'jpeg', 'webp'];
const supported = "Supported file formats are 'image/jpeg', 'image/png', and 'image/webp'.";

/** @throws Rejection unless the bytes are a picture that the vendor reads */
export function readSource(param: string, bytes: Buffer): ImageHead {
  if (bytes.length === 0) {
    throw new Rejection(400, `Invalid file '${param}': empty file.`, {
      param,
      code: 'empty_image_file',
    });
  }
  if (bytes.length > mostBytes) {
    throw new Rejection(400, `Invalid file '${param}': file too large. Maximum size is 50MB.`, {
      param,
      code: 'image_file_too_large',
    });
  }
  const head = readImage(bytes);
  if (head !== null && types.includes(head.type)) return head;
  throw new Rejection(
    400,
    `Invalid image file or mode for '${param}', please check your image file.`,
    {
      param,
      code: 'invalid_image_file',
    },
  );
}

/** Checks the declared type of a file. An unknown one is refused whatever the bytes are. */
export function checkDeclaredType(param: string, contentType: string): void {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'image/jpg' || types.some((known) => type === `image/${known}`)) return;
  throw new Rejection(
    400,
    `Invalid file '${param}': unsupported mimetype ('${type || 'application/octet-stream'}'). ${supported}`,
    { param, code: 'unsupported_file_mimetype' },
  );
}

/** A mask covers the first picture exactly and has transparent pixels, which are to be edited. */
export function checkMask(mask: Source, first: Source | undefined): void {
  if (mask === null) return;
  if (mask.type !== 'png' || !mask.alpha) {
    throw wrongMask('the mask must be a PNG with an alpha channel');
  }
  if (first && (first.width !== mask.width || first.height !== mask.height)) {
    throw wrongMask('mask size does not match image size');
  }
}

function wrongMask(reason: string): Rejection {
  return new Rejection(400, `Invalid mask image format - ${reason}`, {
    param: 'mask',
    code: 'invalid_image_file',
  });
}

/** A picture given as text: an address, a data URI, or (for demo models) its bytes in Base64. */
export function readReference(param: string, value: unknown, bare: boolean): Source {
  if (typeof value !== 'string') throw wrongType(param, 'a string', value);
  if (/^https?:\/\/[^/]/.test(value)) return null;
  const [head = '', data] = value.split(',', 2);
  const isData = data !== undefined && /^data:image\/[a-z.+-]+;base64$/.test(head);
  const encoded = isData ? data : bare ? value : '';
  if (encoded === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) {
    throw new Rejection(400, `Invalid '${param}': expected an http(s) URL or a base64 data URL.`, {
      param,
      code: 'invalid_image_url',
    });
  }
  return readSource(param, Buffer.from(encoded, 'base64'));
}

/** `{image_url}` or `{file_id}`, exactly one of them. Demo models also take `url`, and a `type`. */
export function readImageObject(param: string, value: unknown, demo: boolean): Source {
  if (!isObject(value)) throw wrongType(param, 'an object', value);
  const known = demo ? ['image_url', 'url', 'file_id', 'type'] : ['image_url', 'file_id'];
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) throw unknownParameter(`${param}.${unknown}`);
  const given = ['image_url', 'url', 'file_id'].filter((key) => isPresent(value[key]));
  const [key] = given;
  if (key === undefined) throw missing(`${param}.image_url`);
  if (given.length > 1) {
    throw new Rejection(
      400,
      `Invalid '${param}': expected exactly one of 'image_url' or 'file_id'.`,
      {
        param,
        code: 'invalid_value',
      },
    );
  }
  if (key !== 'file_id') return readReference(`${param}.${key}`, value[key], demo);
  return readFileId(`${param}.file_id`, value);
}

function readFileId(param: string, value: JsonObject): Source {
  if (/^file-[\w-]+$/.test(stringAt(value, 'file_id'))) return null;
  throw new Rejection(400, `Invalid '${param}': no such file.`, {
    param,
    code: 'image_file_not_found',
  });
}
