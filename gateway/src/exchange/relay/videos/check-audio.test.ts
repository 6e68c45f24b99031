import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mp3, wave } from '#test/support/sounds.ts';
import { soundOf } from './check-audio.ts';

const enough = 31;

/** Reads a file in pieces of this many bytes. */
const read = (file: Buffer, size = file.length || 1) =>
  soundOf(
    Readable.from(
      Array.from({ length: Math.ceil(file.length / size) }, (_, at) =>
        file.subarray(at * size, (at + 1) * size),
      ),
    ),
    enough,
  );

describe('WAV', () => {
  test.each([3, 5.5, 30, 31])('%d s', async (seconds) => {
    expect(await read(wave(seconds))).toMatchObject({ kind: 'wav', seconds });
  });

  test('chunks before the format and the sound are passed over, also of odd length', async () => {
    const whole = wave(4);
    const extra = Buffer.concat([Buffer.from('LIST'), Buffer.from([3, 0, 0, 0]), Buffer.alloc(4)]);
    const file = Buffer.concat([whole.subarray(0, 12), extra, whole.subarray(12)]);
    expect(await read(file)).toMatchObject({ kind: 'wav', seconds: 4 });
  });

  test('a length that was not known when it was written is counted', async () => {
    for (const unknown of [0, 0xff_ff_ff_ff]) {
      const file = wave(4);
      file.writeUInt32LE(unknown, 40);
      expect(await read(file, 1_000)).toMatchObject({ kind: 'wav', seconds: 4 });
    }
  });

  test('a file without format or sound does not say', async () => {
    expect(await read(wave(4).subarray(0, 12))).toMatchObject({ kind: 'wav', seconds: null });
    expect(await read(wave(4).subarray(0, 20))).toMatchObject({ kind: 'wav', seconds: null });
    const many = Buffer.concat([wave(1).subarray(0, 12), Buffer.alloc(80_000)]);
    expect(await read(many)).toMatchObject({ kind: 'wav', seconds: null });
  });
});

describe('MP3', () => {
  const frames = Math.ceil(5 / (1_152 / 44_100));
  const seconds = (frames * 1_152) / 44_100;

  test('all frames count', async () => {
    const sound = await read(mp3(5));
    expect(sound).toEqual({ kind: 'mp3', seconds: expect.closeTo(seconds, 6) });
  });

  test('titles before and behind the sound do not', async () => {
    const title = Buffer.concat([
      Buffer.from('ID3'),
      Buffer.from([4, 0, 0, 0, 0, 2, 5]),
      Buffer.alloc(2 * 128 + 5, 0xff),
    ]);
    const behind = Buffer.concat([Buffer.from('TAG'), Buffer.alloc(125)]);
    const sound = await read(Buffer.concat([title, mp3(5), behind]));
    expect(sound).toEqual({ kind: 'mp3', seconds: expect.closeTo(seconds, 6) });
  });

  test('a few strange bytes are passed over', async () => {
    const [half] = [mp3(2.5)];
    const sound = await read(Buffer.concat([Buffer.alloc(100), half, Buffer.alloc(50, 7), half]));
    expect(sound).toMatchObject({ kind: 'mp3' });
    expect(sound.kind === 'mp3' && sound.seconds).toBeCloseTo(5, 0);
  });

  test('frames of other versions have other lengths', async () => {
    // MPEG 2, 64 kbit/s, 22 050 Hz: 208 bytes and 576 samples.
    const frame = Buffer.alloc(208);
    frame.writeUInt32BE(0xff_f3_80_c4, 0);
    const file = Buffer.concat(Array.from({ length: 200 }, () => frame));
    expect(await read(file)).toEqual({
      kind: 'mp3',
      seconds: expect.closeTo((200 * 576) / 22_050, 6),
    });
  });

  test('more than enough is not read', async () => {
    let given = 0;
    async function* endless(): AsyncGenerator<Buffer> {
      for (;;) {
        given += 1;
        yield mp3(1);
      }
    }
    const sound = await soundOf(endless(), enough);
    expect(sound.kind === 'mp3' && sound.seconds).toBeGreaterThan(enough);
    expect(given).toBeLessThan(40);
  });
});

describe('what is neither', () => {
  test.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('<html>not found</html>')],
    ['Ogg', Buffer.concat([Buffer.from('OggS'), Buffer.alloc(5_000, 3)])],
    // Layer bits of AAC are 0.
    ['AAC', Buffer.alloc(5_000, Buffer.from([0xff, 0xf1, 0x50, 0x80]))],
    // Frames of layer II begin alike.
    ['MP2', Buffer.alloc(5_000, Buffer.from([0xff, 0xfd, 0x90, 0x00]))],
  ])('%s', async (_, file) => {
    expect(await read(file)).toEqual({ kind: 'other' });
  });

  test('a file without frames is not read to its end', async () => {
    let given = 0;
    async function* endless(): AsyncGenerator<Buffer> {
      for (;;) {
        given += 1;
        yield Buffer.alloc(16 * 1024, 0xff);
      }
    }
    expect(await soundOf(endless(), enough)).toEqual({ kind: 'other' });
    expect(given).toBeLessThan(10);
  });
});

test('any bytes, in whatever pieces, give one result', async () => {
  const start = fc.constantFrom(
    Buffer.alloc(0),
    wave(0.01),
    mp3(0.1),
    Buffer.from('ID3\x04\0\0\0\0\0\x10'),
    Buffer.from([0xff, 0xfb]),
  );
  await fc.assert(
    fc.asyncProperty(
      start,
      fc.uint8Array({ maxLength: 3_000 }),
      fc.integer({ min: 1, max: 700 }),
      async (head, rest, size) => {
        const file = Buffer.concat([head, rest]);
        expect(await read(file, size)).toEqual(await read(file));
      },
    ),
    { seed: 1, numRuns: 100 },
  );
});
