import type { BodyPool } from '#body-work/index.ts';
import type { VideoProtocolName } from '#canonical/index.ts';
import type { VideoProtocol } from '#protocols/index.ts';
import type { Tasks } from '#tasks/index.ts';
import type { AttemptParts } from '../attempts/parts.ts';
import type { ExchangeParts } from '../exchange/parts.ts';

/** What the operation of videos needs. */
export interface VideoParts extends ExchangeParts, AttemptParts {
  readonly videos: Readonly<Record<VideoProtocolName, VideoProtocol>>;
  readonly tasks: Pick<Tasks, 'create' | 'accept' | 'refuse'>;
  /**
   * Rejects with a GatewayError if the sound at an address has a form or a length that no video can have. Null: sound is
   * left to the upstream.
   */
  readonly checkAudio: ((url: string) => Promise<void>) | null;
  /** Reads large requests in threads. */
  readonly bodies: BodyPool;
}
