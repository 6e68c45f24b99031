import type { Colour, ImageSpec } from './order.ts';
import { padding } from './padding.ts';

/** Every step of a brightness is 1/8 in a block's mean value; this divisor undoes it. */
const meanDivisor = 8;
const longestComment = 65_533;

/**
 * A baseline JPEG in one colour. Only the first block of each component states a value. All others
 * have the difference 0 and no details, which are two zero bits in the tables below.
 */
export function jpegOf({ width, height, bytes = 0 }: ImageSpec, colour: Colour): Buffer {
  const frame = Buffer.from([8, 0, 0, 0, 0, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]);
  frame.writeUInt16BE(height, 1);
  frame.writeUInt16BE(width, 3);
  const start = Buffer.from([0xff, 0xd8]);
  const parts = [
    segment(0xe0, Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1')),
    segment(0xdb, Buffer.from([0, ...Array<number>(64).fill(meanDivisor)])),
    segment(0xc0, frame),
    segment(0xc4, meanTable),
    segment(0xc4, detailTable),
    segment(0xda, Buffer.from([3, 1, 0, 2, 0, 3, 0, 0, 63, 0])),
    scan(Math.ceil(width / 8) * Math.ceil(height / 8), colour),
    Buffer.from([0xff, 0xd9]),
  ];
  const length = parts.reduce((sum, part) => sum + part.length, start.length);
  return Buffer.concat([start, ...comments(bytes - length), ...parts]);
}

/** The code of category 0 has one bit, those of 1 to 8 have five: `10000` to `10111`. */
const meanTable = Buffer.from([0x00, ...lengths({ 1: 1, 5: 8 }), 0, 1, 2, 3, 4, 5, 6, 7, 8]);
/** One code of one bit: no details. */
const detailTable = Buffer.from([0x10, ...lengths({ 1: 1 }), 0x00]);

function lengths(counts: Readonly<Record<number, number>>): number[] {
  return Array.from({ length: 16 }, (_, index) => counts[index + 1] ?? 0);
}

function scan(blocks: number, colour: Colour): Buffer {
  let bits = '';
  for (const value of meansOf(colour)) {
    const category = value === 0 ? 0 : 32 - Math.clz32(Math.abs(value));
    bits += category === 0 ? '0' : (0b10000 + category - 1).toString(2);
    const written = value < 0 ? value + 2 ** category - 1 : value;
    if (category > 0) bits += written.toString(2).padStart(category, '0');
    bits += '0';
  }
  const last = bits.length + (blocks - 1) * 6;
  const data = Buffer.alloc(Math.ceil(last / 8));
  Array.from(bits).forEach((bit, index) => {
    if (bit === '1') data[index >> 3] = (data[index >> 3] ?? 0) | (0x80 >> (index & 7));
  });
  // The rest of the last byte is filled with ones.
  const rest = data.length * 8 - last;
  data[data.length - 1] = (data[data.length - 1] ?? 0) | (2 ** rest - 1);
  const stuffed = [...data.subarray(0, 8)].flatMap((byte) => (byte === 0xff ? [0xff, 0] : [byte]));
  const tail =
    data.length > 8 && data.at(-1) === 0xff
      ? [data.subarray(8), Buffer.alloc(1)]
      : [data.subarray(8)];
  return Buffer.concat([Buffer.from(stuffed), ...tail]);
}

/** Brightness and the two colour differences, around 0. */
function meansOf([red, green, blue]: Colour): number[] {
  const brightness = 0.299 * red + 0.587 * green + 0.114 * blue - 128;
  const toBlue = -0.1687 * red - 0.3313 * green + 0.5 * blue;
  const toRed = 0.5 * red - 0.4187 * green - 0.0813 * blue;
  return [brightness, toBlue, toRed].map((value) => Math.round(value));
}

/** Comment segments of `room` bytes together, so that the file has the size that is ordered. */
function comments(room: number): Buffer[] {
  const list: Buffer[] = [];
  for (let left = room; left > 0;) {
    // A last segment needs room for its own four bytes.
    const data = Math.max(0, Math.min(longestComment, left - 4));
    const length = left - data - 4 > 0 && left - data - 4 < 4 ? data - 4 : data;
    list.push(segment(0xfe, padding(length)));
    left -= length + 4;
  }
  return list;
}

function segment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}
