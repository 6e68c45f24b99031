import type { BodyPool } from '#body-work/index.ts';
import type { VideoProtocolName } from '#canonical/index.ts';
import type { VideoProtocol } from '#protocols/index.ts';
import type { Tasks } from '#tasks/index.ts';
import type { GuardedFetch } from '#upstream/index.ts';
import type { AttemptParts } from '../attempts/parts.ts';
import type { ExchangeParts } from '../exchange/parts.ts';

/** What the operation of videos needs. */
export interface VideoParts extends ExchangeParts, AttemptParts {
  readonly videos: Readonly<Record<VideoProtocolName, VideoProtocol>>;
  readonly tasks: Pick<Tasks, 'create' | 'accept' | 'refuse'>;
  /** Whether sound at an address is fetched, to check its form and length. */
  readonly checksAudio: boolean;
  readonly fetchMedia: GuardedFetch;
  /** Reads large requests in threads. */
  readonly bodies: BodyPool;
}
