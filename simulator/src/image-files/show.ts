import type { Call, Endpoint } from '../http/call.ts';
import { jsonReply, type Reply } from '../http/reply.ts';
import type { ImageSpec, ImageType } from './order.ts';
import { createImage, imageInBase64 } from './create-image.ts';
import { parseSize } from './size.ts';

/** How a response contains a picture. */
export type ShownAs = 'url' | 'b64_json';

/** The members of a response that show the picture: its bytes, or an address at this simulator. */
export function showImage(call: Call, order: ImageSpec, as: ShownAs): Record<string, string> {
  if (as === 'b64_json') return { b64_json: imageInBase64(order) };
  const fault = call.shape.images?.urlFault;
  const base = fault === undefined ? '' : `/fault(${fault})`;
  return { url: `http://${call.headers.host ?? ''}${base}${folder}${nameOf(order)}` };
}

/** A seed per picture of a response. */
export function seedOf(call: Call, position: number): number {
  return (Number.parseInt(call.identity.slice(0, 2), 16) + position) % 256;
}

const folder = '/pictures/';

/** The address states everything about the picture, so that nothing is stored. */
function nameOf(order: ImageSpec): string {
  const { width, height, seed = 0, transparent = false, bytes = 0 } = order;
  const marks = [`${width}x${height}`, seed, bytes, transparent ? 'transparent' : 'opaque'];
  return `${marks.join('-')}.${order.type}`;
}

const mostBytes = 64 * 2 ** 20;

/** `GET /pictures/…`: the picture of an address, without a credential. */
export function imageAt(path: string): Endpoint | null {
  if (!path.startsWith(folder)) return null;
  const [name = '', type = ''] = path.slice(folder.length).split('.', 2);
  const [size = '', seed = '', bytes = '', background = ''] = name.split('-', 4);
  const sides = parseSize(size);
  const numbers = [seed, bytes].every((text) => /^\d{1,8}$/.test(text));
  if (!sides || !numbers || !isType(type) || Number(bytes) > mostBytes) return null;
  const transparent = background === 'transparent';
  return () => {
    const order = { ...sides, type, seed: Number(seed), transparent, bytes: Number(bytes) };
    return imageReply(createImage(order), type);
  };
}

function isType(text: string): text is ImageType {
  return text === 'png' || text === 'jpeg' || text === 'webp';
}

function imageReply(bytes: Buffer, type: ImageType): Reply {
  const headers = { 'content-type': `image/${type}` };
  return { status: 200, headers, body: { kind: 'whole', bytes } };
}

/** A JSON response as bytes: with large pictures, many clients share them. */
export function imageJson(body: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  const reply = jsonReply(200, undefined, headers);
  return { ...reply, body: { kind: 'whole', bytes: Buffer.from(JSON.stringify(body)) } };
}
