import { GatewayError } from '#errors/index.ts';
import { FetchRefused, type GuardedFetch } from '#upstream/index.ts';
import { soundOf, type Sound } from './sound-length.ts';

/** For all of it: the client waits. */
const bounds = { timeout: 3_000, maxBytes: 15 * 1024 * 1024 } as const;
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
  let sound: Sound;
  try {
    // Nothing of it is kept, so no memory is claimed.
    sound = await fetchMedia({ ...bounds, url, keyId }, ({ pieces }) =>
      soundOf(pieces, longest + 1),
    );
  } catch (error) {
    if (error instanceof FetchRefused) return;
    throw error;
  }
  const reason = faultOf(sound);
  if (reason !== null) {
    throw new GatewayError('invalid_value', { param: 'input.audio_url', values: { reason } });
  }
}

function faultOf(sound: Sound): string | null {
  if (sound.kind === 'other') return 'input.audio_url must be a WAV or an MP3 file';
  if (sound.seconds === null) return null;
  // Encoders add some hundredths of a second of silence.
  const seconds = Math.round(sound.seconds * 10) / 10;
  return seconds < shortest || seconds > longest
    ? `the audio at input.audio_url must last ${shortest} to ${longest} seconds`
    : null;
}
