export { registerConsole, type ConsoleOptions } from './register.ts';
export { consoleSurface } from './errors.ts';
export { channelStateOf, type HealthSource, type NodeHealth } from './health/source.ts';
export { nodeState, type NodeState } from './contract/health.ts';
export { createLiveFeed, type LiveFeed } from './live/feed.ts';
