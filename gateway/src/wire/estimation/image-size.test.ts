import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { imageSize } from './image-size.ts';

const side = fc.integer({ min: 1, max: 16_383 });
const base64 = (...parts: (Buffer | string | number[])[]) =>
  Buffer.concat(
    parts.map((part) =>
      typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part),
    ),
  ).toString('base64');
const be32 = (value: number) => [
  value >>> 24,
  (value >>> 16) & 255,
  (value >>> 8) & 255,
  value & 255,
];
const be16 = (value: number) => [value >>> 8, value & 255];
const le16 = (value: number) => [value & 255, value >>> 8];
const le24 = (value: number) => [...le16(value & 0xffff), value >>> 16];
const rest = Buffer.alloc(40);

const png = (w: number, h: number) =>
  base64([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10], be32(13), 'IHDR', be32(w), be32(h), rest);
const gif = (w: number, h: number) => base64('GIF89a', le16(w), le16(h), rest);
const webp = (chunk: string, body: number[]) =>
  base64('RIFF', be32(0), 'WEBP', chunk, be32(0), body, rest);
const lossy = (w: number, h: number) =>
  webp('VP8 ', [0, 0, 0, 0x9d, 1, 0x2a, ...le16(w), ...le16(h)]);
const lossless = (w: number, h: number) => {
  const bits = (w - 1) | ((h - 1) << 14);
  return webp('VP8L', [0x2f, ...be32(bits).toReversed()]);
};
const extended = (w: number, h: number) =>
  webp('VP8X', [0, 0, 0, 0, ...le24(w - 1), ...le24(h - 1)]);
/** With this many bytes of metadata before the frame, in segments of at most 60 000. */
const jpeg = (w: number, h: number, metadata: number, frame = 0xc0) => {
  const segments: Buffer[] = [];
  for (let left = metadata; left > 0; left -= 60_000) {
    const length = Math.min(left, 60_000);
    segments.push(Buffer.from([0xff, 0xe1, ...be16(length + 2)]), Buffer.alloc(length, 0xff));
  }
  const start = [0xff, 0xff, frame, ...be16(17), 8, ...be16(h), ...be16(w)];
  return base64([0xff, 0xd8], ...segments, start, rest);
};

describe('the size of an image from its header', () => {
  it.each([
    ['PNG', png],
    ['GIF', gif],
    ['lossy WebP', lossy],
    ['lossless WebP', lossless],
    ['extended WebP', extended],
  ])('%s', (_name, make) => {
    fc.assert(
      fc.property(side, side, (width, height) => {
        expect(imageSize(make(width, height))).toEqual({ width, height });
      }),
    );
  });

  it('JPEG, with any metadata before the frame', () => {
    fc.assert(
      fc.property(side, side, fc.nat(200_000), (width, height, metadata) => {
        expect(imageSize(jpeg(width, height, metadata))).toEqual({ width, height });
      }),
    );
  });

  it.each([0xc0, 0xc1, 0xc2, 0xcf])('JPEG with frame %i', (frame) => {
    expect(imageSize(jpeg(3, 5, 100, frame))).toEqual({ width: 3, height: 5 });
  });

  it.each([0xc4, 0xc8, 0xcc])('JPEG segment %i is not a frame', (frame) => {
    expect(imageSize(jpeg(3, 5, 100, frame))).toBeNull();
  });

  it('never throws, and returns nothing for anything that is not an image', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64');
        const size = imageSize(text);
        expect(size === null || (size.width > 0 && size.height > 0)).toBe(true);
      }),
    );
    expect(imageSize('no base64 at all ???')).toBeNull();
    expect(imageSize('')).toBeNull();
    expect(imageSize(png(0, 5))).toBeNull();
    expect(imageSize(png(4, 5).slice(0, 24))).toBeNull();
  });
});
