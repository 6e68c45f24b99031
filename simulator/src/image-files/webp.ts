import type { Colour, ImageSpec } from './order.ts';
import { padding } from './padding.ts';

/**
 * A lossless WebP in one colour. Each colour channel has a code with a single symbol, which takes no
 * bits, so that the pixels need no data.
 */
export function webpOf(order: ImageSpec, [red, green, blue]: Colour): Buffer {
  const transparent = order.transparent === true;
  const fields: (readonly [value: number, bits: number])[] = [
    [order.width - 1, 14],
    [order.height - 1, 14],
    [transparent ? 1 : 0, 1],
    [0, 3],
    // No transformation, no colour cache, one group of codes.
    [0, 1],
    [0, 1],
    [0, 1],
    ...[green, red, blue, transparent ? 128 : 255].flatMap(oneSymbol),
    // The code of distances: a symbol of one bit.
    [1, 1],
    [0, 1],
    [0, 1],
    [0, 1],
  ];
  const bits = fields.flatMap(([value, count]) =>
    Array.from({ length: count }, (_, index) => (value >> index) & 1),
  );
  const data = Buffer.alloc(1 + Math.ceil(bits.length / 8));
  data[0] = 0x2f;
  bits.forEach((bit, index) => {
    const at = 1 + (index >> 3);
    data[at] = (data[at] ?? 0) | (bit << (index & 7));
  });
  const image = chunk('VP8L', data);
  const head = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1');
  const room = (order.bytes ?? 0) - head.length - image.length;
  const more = room > 0 ? [chunk('PADD', padding(Math.max(0, room - 8)))] : [];
  const whole = Buffer.concat([head, image, ...more]);
  whole.writeUInt32LE(whole.length - 8, 4);
  return whole;
}

/** A simple code with one symbol of eight bits. */
function oneSymbol(symbol: number): (readonly [value: number, bits: number])[] {
  return [
    [1, 1],
    [0, 1],
    [1, 1],
    [symbol, 8],
  ];
}

/** Chunks have an even length. */
function chunk(name: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(8 + data.length + (data.length % 2));
  bytes.write(name, 0, 'latin1');
  bytes.writeUInt32LE(data.length, 4);
  data.copy(bytes, 8);
  return bytes;
}
