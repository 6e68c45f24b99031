import type { Route } from '#catalogue/index.ts';
import type { VideoRequest } from '#protocols/index.ts';
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
