export type { ChannelLease, FailureKind } from './channel-lease.ts';
export { createChannelAffinity, startingAt, type ChannelAffinity } from './affinity.ts';
export {
  findCandidates,
  isNative,
  servingRoutes,
  upstreamProtocols,
  type RouteQuery,
} from './candidates.ts';
export { conversationOf, type Conversation, type ConversationSource } from './conversation.ts';
export { explainRoutes } from './explain.ts';
export { createChannelHealth, type AttemptResult, type ChannelHealth } from './health.ts';
