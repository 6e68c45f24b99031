export { createBucket, type BucketOptions } from './bucket.ts';
export type { UpstreamCall, UpstreamHeaders, UpstreamListener } from './call.ts';
export {
  createUpstreamClient,
  type UpstreamClient,
  type UpstreamClientOptions,
  type UpstreamRequest,
} from './client.ts';
export {
  createEventStreamReader,
  EventTooLarge,
  type EventStreamOptions,
  type EventStreamReader,
} from './event-stream.ts';
export {
  createGuardedFetch,
  FetchRefused,
  type GuardedFetch,
  type GuardedFetchOptions,
  type MediaOrder,
  TooLarge,
} from './guarded-fetch.ts';
export { createProxies, type Proxies } from './proxies.ts';
export { retryAfterOf } from './retry-after.ts';
export { UpstreamError, type BreakPoint } from './upstream-error.ts';
