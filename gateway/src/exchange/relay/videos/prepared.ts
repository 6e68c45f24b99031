import type { BodyPool } from '#body-work/index.ts';
import type { VideoProtocolName } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import type { VideoProtocol, VideoRequest } from '#protocols/index.ts';
import type { Tasks } from '#tasks/index.ts';
import type { GuardedFetch } from '#upstream/index.ts';
import type { AttemptParts } from '../attempts/attempt-options.ts';
import type { ExchangeParts } from '../exchange/exchange.ts';
import type { ExchangeInput } from '../exchange/input.ts';
import type { CheckedRequest } from '../exchange/operation.ts';

export interface CheckedVideo extends CheckedRequest {
  readonly request: VideoRequest;
}

/** A checked request and the routes that can serve it. */
export interface PreparedVideo {
  readonly request: VideoRequest;
  /** In the order to try them. */
  readonly routes: readonly Route[];
}

/** A request for a video. The response names a task; the video comes later. */
export interface VideoInput extends ExchangeInput {
  readonly protocol: VideoProtocolName;
  readonly operation: 'generate';
}

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
