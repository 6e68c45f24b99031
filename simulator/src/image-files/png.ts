import { crc32, deflateSync } from 'node:zlib';
import type { Colour, ImageSpec } from './order.ts';
import { padding } from './padding.ts';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Length, name and checksum of a chunk. */
const chunkFrame = 12;

/** Stripes of two colours; in a transparent picture one of them is the background. */
export function pngOf(order: ImageSpec, [red, green, blue]: Colour): Buffer {
  const { width, height } = order;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // One bit per pixel, its colour from the palette.
  header.set([1, 3, 0, 0, 0], 8);
  const palette = Buffer.from([red, green, blue, 255 - red, 255 - green, 255 - blue]);
  const chunks = [
    chunk('IHDR', header),
    chunk('PLTE', palette),
    ...(order.transparent === true ? [chunk('tRNS', Buffer.from([0, 255]))] : []),
    chunk('IDAT', deflateSync(stripes(width, height), { level: 1 })),
  ];
  const end = chunk('IEND', Buffer.alloc(0));
  const length = [signature, ...chunks, end].reduce((sum, part) => sum + part.length, 0);
  const room = (order.bytes ?? 0) - length;
  if (room > 0) chunks.push(chunk('paDd', padding(Math.max(0, room - chunkFrame))));
  return Buffer.concat([signature, ...chunks, end]);
}

function stripes(width: number, height: number): Buffer {
  const row = 1 + Math.ceil(width / 8);
  const pixels = Buffer.alloc(row * height);
  for (let y = 0; y < height; y++) {
    // The byte before each row is its filter: none.
    if ((y >> 4) % 2 === 1) pixels.fill(0xff, y * row + 1, (y + 1) * row);
  }
  return pixels;
}

function chunk(name: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(data.length + chunkFrame);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(name, 4, 'latin1');
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), bytes.length - 4);
  return bytes;
}
