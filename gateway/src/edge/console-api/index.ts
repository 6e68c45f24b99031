export { registerConsole, type ConsoleOptions } from './register.ts';
export { consoleSurface } from './errors.ts';
export type { HealthSource } from './health/source.ts';
export { createLiveFeed, type LiveFeed } from './live/feed.ts';
export type { GatewayState } from './overview/attention.ts';
