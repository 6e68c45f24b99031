import { crc32, inflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createImage, startSimulator, type ImageSpec, type Simulator } from '../src/index.ts';
import { readImage } from '../src/image-files/read-image.ts';
import { readWords } from '../src/image-files/words.ts';

const types = ['png', 'jpeg', 'webp'] as const;
const sizes = [
  [1, 1],
  [7, 3],
  [17, 33],
  [1000, 265],
  [1024, 1536],
  [4096, 4096],
  [16_384, 9],
] as const;
const orders: ImageSpec[] = types.flatMap((type) =>
  sizes.map(([width, height]) => ({ type, width, height, seed: 7 })),
);

describe('a picture', () => {
  test.each(orders)('as $type has $width x $height pixels', (order) => {
    const image = createImage(order);
    const { type, width, height } = order;
    expect(readImage(image)).toEqual({ type, width, height, alpha: false });
    const pixels = { png: pixelsOfPng, jpeg: pixelsOfJpeg, webp: pixelsOfWebp }[type](image);
    expect(pixels).toEqual({ width, height });
  });

  test('follows from its order alone', () => {
    const order = { type: 'png', width: 20, height: 20 } as const;
    expect(createImage(order)).toEqual(createImage({ ...order, seed: 0 }));
    expect(createImage(order)).not.toEqual(createImage({ ...order, seed: 1 }));
  });

  test.each(['png', 'webp'] as const)('as %s can be transparent', (type) => {
    const image = createImage({ type, width: 9, height: 9, transparent: true });
    expect(readImage(image)?.alpha).toBe(true);
  });

  test.each(types)('as %s can be as large as a test needs', (type) => {
    for (const bytes of [5000, 5001, 65_800, 131_501, 10_000_000]) {
      const order = { type, width: 30, height: 20, bytes };
      const image = createImage(order);
      expect(image.length).toBe(type === 'webp' ? bytes + (bytes % 2) : bytes);
      expect(readImage(image)).toMatchObject({ width: 30, height: 20 });
    }
  });

  test('has no impossible size', () => {
    for (const [width, height] of [
      [0, 1],
      [1, 16_385],
      [1.5, 1],
    ] as const) {
      expect(() => createImage({ type: 'png', width, height })).toThrow(RangeError);
    }
  });
});

describe('the head of a picture', () => {
  const head = (text: string, rest: readonly number[] = []) =>
    readImage(Buffer.concat([Buffer.from(text, 'latin1'), Buffer.from(rest)]));

  test.each<[string, ReturnType<typeof head>]>([
    ['gif', head('GIF89a', [5, 0, 6, 0, 0, 0])],
    ['bmp', head(`BM${'\0'.repeat(16)}`, [5, 0, 0, 0, 0xfa, 0xff, 0xff, 0xff])],
  ])('of a %s', (type, found) => {
    expect(found).toMatchObject({ type, width: 5, height: 6 });
  });

  test.each<[string, Buffer]>([
    ['text', Buffer.from('a picture of a cat, in words')],
    ['nothing', Buffer.alloc(0)],
    ['the first bytes alone', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')],
    ['a JPEG without a frame', Buffer.from([0xff, 0xd8, 0xff, 0xd9])],
    ['a picture of no pixels', Buffer.from('GIF89a\0\0\0\0')],
  ])('is not in %s', (_, bytes) => {
    expect(readImage(bytes)).toBeNull();
  });
});

describe('an address', () => {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator();
  });
  afterAll(() => simulator.close());

  test('of a picture needs no credential', async () => {
    const response = await fetch(`${simulator.url}/pictures/300x200-5-0-opaque.webp`);
    expect(response.headers.get('content-type')).toBe('image/webp');
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes).toEqual(createImage({ type: 'webp', width: 300, height: 200, seed: 5 }));
  });

  test.each([
    '/pictures/0x0-5-0-opaque.png',
    '/pictures/1x1-5-0-opaque.tiff',
    '/pictures/1x1-5-99999999-opaque.png',
    '/pictures/',
    '/pictures/1x1',
  ])('%s is unknown', async (path) => {
    expect((await fetch(simulator.url + path)).status).toBe(401);
  });
});

describe('the words of a prompt', () => {
  test('ask for numbers and sizes', () => {
    const words = readWords(
      'draw 3 pictures in 16 layers, sizes 1500x1740 1500x1741, fail picture 2.',
    );
    expect(words).toMatchObject({ images: 3, layers: 16, refusal: null, noImage: false });
    expect(words.sizes).toEqual([
      { width: 1500, height: 1740 },
      { width: 1500, height: 1741 },
    ]);
    expect([0, 1, 2].map(words.fails)).toEqual([false, true, false]);
    expect(readWords('fail all').fails(5)).toBe(true);
  });

  test.each([
    ['refuse prompt', 'prompt', ''],
    ['please refuse', 'image', ''],
    ['refuse IMAGE_RECITATION', 'image', 'IMAGE_RECITATION'],
    ['a cat', null, ''],
  ])('%s', (prompt, refusal, reason) => {
    expect(readWords(prompt)).toMatchObject({ refusal, reason });
  });

  test('do not count in the middle of a long prompt', () => {
    expect(readWords(`refuse prompt ${'x'.repeat(400)}`).refusal).toBeNull();
  });
});

/** Inflates the pixels and checks every checksum. */
function pixelsOfPng(bytes: Buffer) {
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < bytes.length;) {
    const length = bytes.readUInt32BE(at);
    const named = bytes.subarray(at + 4, at + 8 + length);
    expect(bytes.readUInt32BE(at + 8 + length)).toBe(crc32(named));
    chunks.set(named.toString('latin1', 0, 4), named.subarray(4));
    at += 12 + length;
  }
  expect([...chunks.keys()]).toEqual(['IHDR', 'PLTE', 'IDAT', 'IEND']);
  const header = chunks.get('IHDR') as Buffer;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const pixels = inflateSync(chunks.get('IDAT') as Buffer);
  expect(pixels.length).toBe(height * (1 + Math.ceil(width / 8)));
  return { width, height };
}

/** Decodes every block of the scan: three values of one colour, then only "the same again". */
function pixelsOfJpeg(bytes: Buffer) {
  let size = { width: 0, height: 0 };
  let at = 2;
  for (; bytes[at + 1] !== 0xda; at += 2 + bytes.readUInt16BE(at + 2)) {
    if (bytes[at + 1] !== 0xc0) continue;
    size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
  }
  const scan = bytes.subarray(at + 2 + bytes.readUInt16BE(at + 2), -2);
  const raw = scan.toString('latin1').replaceAll('\xff\0', '\xff');
  const bits = [...Buffer.from(raw, 'latin1').subarray(0, 16)]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  let read = 0;
  for (let component = 0; component < 3; component++) {
    const category =
      bits[read] === '0' ? 0 : Number.parseInt(bits.slice(read + 2, read + 5), 2) + 1;
    read += (category === 0 ? 1 : 5 + category) + 1;
  }
  const blocks = Math.ceil(size.width / 8) * Math.ceil(size.height / 8);
  const last = read + (blocks - 1) * 6;
  expect(raw.length).toBe(Math.ceil(last / 8));
  const rest = raw.length * 8 - last;
  expect(raw.charCodeAt(raw.length - 1) & (2 ** rest - 1)).toBe(2 ** rest - 1);
  expect(/^\0*$/.test(raw.slice(Math.ceil(read / 8), -1))).toBe(true);
  return size;
}

function pixelsOfWebp(bytes: Buffer) {
  expect(bytes.readUInt32LE(4)).toBe(bytes.length - 8);
  expect(bytes.readUInt32LE(16)).toBeLessThanOrEqual(bytes.length - 20);
  const bits = bytes.readUInt32LE(21);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}
