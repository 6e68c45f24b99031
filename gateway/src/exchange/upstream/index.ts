export { createBucket, type BucketOptions } from './bucket.ts';
export {
  type BreakPoint,
  retryAfterOf,
  type UpstreamCall,
  UpstreamError,
  type UpstreamHeaders,
  type UpstreamListener,
} from './call.ts';
export { isOfTheLink } from './watched-lookup.ts';
export {
  type ConnectionStep,
  createUpstreamClient,
  type UpstreamClient,
  type UpstreamClientOptions,
  type UpstreamRequest,
} from './client.ts';
export { EventStreamReader, EventTooLarge, type EventStreamOptions } from './event-stream.ts';
export {
  createGuardedFetch,
  FetchRefused,
  type GuardedFetch,
  type GuardedFetchOptions,
  type MediaOrder,
  TooLarge,
} from './guarded-fetch.ts';
export { createProxies, type Proxies } from './proxies.ts';
