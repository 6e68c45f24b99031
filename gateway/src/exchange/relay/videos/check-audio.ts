import { GatewayError } from '#errors/index.ts';
import { FetchRefused, TooLarge, type GuardedFetch } from '#upstream/index.ts';
import { soundOf, type Sound } from './sound-length.ts';

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
