export type { Admission } from './admission.ts';
export { createChannelAffinity, type ChannelAffinity } from './affinity.ts';
export { findCandidates, upstreamProtocol, type Wish } from './candidates.ts';
export { conversationOf, type Conversation } from './conversation.ts';
export type { FailureKind } from './failure-kind.ts';
export { createChannelHealth, type AttemptResult, type ChannelHealth } from './health.ts';
