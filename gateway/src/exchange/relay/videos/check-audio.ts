import { GatewayError } from '#errors/index.ts';
import { FetchRefused, type GuardedFetch, TooLarge } from '#upstream/index.ts';

/** For all of it: the client waits. Stores of files serve sounds over http too, and as of no type. */
const bounds = { timeout: 3_000, maxBytes: 15 * 1024 * 1024, isUnrestricted: true } as const;
const tooLarge = 'the audio at input.audio_url must have at most 15 MB';
const unknownType = 'application/octet-stream';
/** Seconds. */
const shortest = 3;
const longest = 30;

/**
 * Fetches the sound that a video is made to, and checks its form and length, so that a wrong one costs nothing. What
 * cannot be fetched is left to the upstream, which may reach more than the gateway does.
 * @param keyId the key for which it is fetched
 * @throws GatewayError if it was read and no upstream takes it
 */
export async function checkAudio(
  fetchMedia: GuardedFetch,
  url: string,
  keyId: string,
): Promise<void> {
  let reason: string | null;
  try {
    // Nothing of it is kept, so no memory is claimed.
    reason = await fetchMedia({ ...bounds, url, keyId }, async ({ mime, pieces }) => {
      const isMedia = mime !== unknownType;
      return faultOf(await soundOf(pieces, longest + 1), isMedia);
    });
  } catch (error) {
    if (!(error instanceof FetchRefused)) throw error;
    reason = error instanceof TooLarge ? tooLarge : null;
  }
  if (reason !== null) {
    throw new GatewayError('invalid_value', { param: 'input.audio_url', values: { reason } });
  }
}

/** @param isMedia the host says that it is media: else it may be a page in its place, and the upstream gets another */
function faultOf(sound: Sound, isMedia: boolean): string | null {
  if (sound.kind === 'other') {
    return isMedia ? 'input.audio_url must be a WAV or an MP3 file' : null;
  }
  if (sound.kind === 'wav' && sound.bytes > bounds.maxBytes) return tooLarge;
  if (sound.seconds === null) return null;
  // Encoders add some hundredths of a second of silence.
  const seconds = Math.round(sound.seconds * 10) / 10;
  return seconds < shortest || seconds > longest
    ? `the audio at input.audio_url must last ${shortest} to ${longest} seconds`
    : null;
}

/** What a file of sound is; `seconds` null: its header does not say. `bytes`: of its sound, as the header says. */
export type Sound =
  | { readonly kind: 'wav'; readonly seconds: number | null; readonly bytes: number }
  | { readonly kind: 'mp3'; readonly seconds: number }
  | { readonly kind: 'other' };

type Pieces = AsyncIterable<Buffer>;

/** Chunks of a WAV file before its sound. */
const mostChunks = 1_000;
/** Bytes outside of frames, after which a file does not count as MP3: encoders leave some, strangers send anything. */
const mostStray = 64 * 1024;
const noSize = 0xff_ff_ff_ff;

/**
 * How long a sound is, from its first bytes for WAV and from all frames for MP3, whose header may be missing or wrong.
 * Reads no further than it needs, and keeps no more than a frame's header.
 * @param enough seconds; how much longer it is does not matter
 * @throws what the pieces throw
 */
export async function soundOf(pieces: Pieces, enough: number): Promise<Sound> {
  const reader = new PieceReader(pieces);
  try {
    const start = await reader.peek(12);
    if (start.toString('latin1', 0, 4) === 'RIFF' && start.toString('latin1', 8, 12) === 'WAVE') {
      await reader.skip(12);
      return { kind: 'wav', ...(await readWave(reader)) };
    }
    const seconds = await secondsOfFrames(reader, enough);
    return seconds === null ? { kind: 'other' } : { kind: 'mp3', seconds };
  } finally {
    await reader.close();
  }
}

const unreadWave = { seconds: null, bytes: 0 };

async function readWave(
  reader: PieceReader,
): Promise<{ readonly seconds: number | null; readonly bytes: number }> {
  let bytesPerSecond = 0;
  for (let at = 0; at < mostChunks; at += 1) {
    const head = await reader.read(8);
    if (head.length < 8) return unreadWave;
    const name = head.toString('latin1', 0, 4);
    const size = head.readUInt32LE(4);
    if (name === 'data') {
      // A program that writes to a pipe does not know the size at the beginning.
      const isKnown = size > 0 && size !== noSize;
      const bytes = isKnown ? size : await reader.skip(Number.POSITIVE_INFINITY);
      return { bytes, seconds: bytesPerSecond > 0 ? bytes / bytesPerSecond : null };
    }
    const format = name === 'fmt ' ? await reader.peek(12) : null;
    if (format !== null && format.length === 12) bytesPerSecond = format.readUInt32LE(8);
    // Chunks begin at even places.
    await reader.skip(size + (size % 2));
  }
  return unreadWave;
}

/** Null: most of it is no MP3. */
async function secondsOfFrames(reader: PieceReader, enough: number): Promise<number | null> {
  await skipTags(reader);
  let seconds = 0;
  let stray = 0;
  let framedBytes = 0;
  let last: Frame | null = null;
  for (;;) {
    const head = await reader.peek(4);
    const frame = frameOf(head);
    const isEnd = head.length < 4 || head.toString('latin1', 0, 3) === 'TAG';
    if (last !== null) {
      // Any bytes may look like a frame; two that follow each other are no accident.
      if (isEnd || (frame !== null && frame.kind === last.kind)) {
        seconds += last.seconds;
        framedBytes += last.length;
      } else {
        stray += last.length;
      }
    }
    last = frame;
    if (isEnd || seconds > enough) return framedBytes > stray ? seconds : null;
    if (frame === null) stray += await reader.skip(1);
    else await reader.skip(frame.length);
    if (stray > mostStray && stray > framedBytes) return null;
  }
}

/** Titles and images before the sound. */
async function skipTags(reader: PieceReader): Promise<void> {
  for (;;) {
    const head = await reader.peek(10);
    if (head.length < 10 || head.toString('latin1', 0, 3) !== 'ID3') return;
    const size = [...head.subarray(6, 10)].reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
    const footer = (head[5]! & 0x10) === 0 ? 0 : 10;
    await reader.skip(10 + size + footer);
  }
}

interface Frame {
  /** In bytes, with its header. */
  readonly length: number;
  readonly seconds: number;
  /** The same in all frames of a file. */
  readonly kind: number;
}

/** In kbit/s, by the index in the header: of MPEG 1, and of MPEG 2 and 2.5. */
const bitRates = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
const sampleRates = [44_100, 48_000, 32_000] as const;

/** A frame of layer III (ISO/IEC 11172-3, 13818-3). Null: these bytes begin none. */
function frameOf(head: Buffer): Frame | null {
  if (head.length < 4) return null;
  const bits = head.readUInt32BE(0);
  const version = (bits >>> 19) & 3;
  const sampleRate = sampleRates[(bits >>> 10) & 3];
  const isFrame = bits >>> 21 === 0x7_ff && version !== 1 && ((bits >>> 17) & 3) === 1;
  if (!isFrame || sampleRate === undefined) return null;
  const isFirst = version === 3;
  const bitRate = bitRates[isFirst ? 0 : 1][(bits >>> 12) & 15] ?? 0;
  if (bitRate === 0) return null;
  const rate = sampleRate / (isFirst ? 1 : version === 2 ? 2 : 4);
  const samples = isFirst ? 1_152 : 576;
  const length = Math.floor((samples * bitRate * 125) / rate) + ((bits >>> 9) & 1);
  return { length, seconds: samples / rate, kind: version * 4 + ((bits >>> 10) & 3) };
}

/** Reads bytes in order, across pieces. Fewer than asked for: it is the end. */
class PieceReader {
  readonly #pieces: AsyncIterator<Buffer>;
  #heldBytes: Buffer = Buffer.alloc(0);

  constructor(pieces: Pieces) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** The next bytes, which stay. */
  async peek(count: number): Promise<Buffer> {
    while (this.#heldBytes.length < count && (await this.#more()));
    return this.#heldBytes.subarray(0, count);
  }

  async read(count: number): Promise<Buffer> {
    const bytes = await this.peek(count);
    this.#heldBytes = this.#heldBytes.subarray(bytes.length);
    return bytes;
  }

  /** @returns how many bytes there were */
  async skip(count: number): Promise<number> {
    let doneBytes = 0;
    do {
      const some = Math.min(count - doneBytes, this.#heldBytes.length);
      this.#heldBytes = this.#heldBytes.subarray(some);
      doneBytes += some;
    } while (doneBytes < count && (await this.#more()));
    return doneBytes;
  }

  /** False: there is no more. */
  async #more(): Promise<boolean> {
    const { done, value } = await this.#pieces.next();
    if (done === true) return false;
    this.#heldBytes =
      this.#heldBytes.length === 0 ? value : Buffer.concat([this.#heldBytes, value]);
    return true;
  }

  async close(): Promise<void> {
    await this.#pieces.return?.();
  }
}
