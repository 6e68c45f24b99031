import type { ReasoningEffort } from '#canonical/index.ts';

/** How much a model thinks. */
export type Effort = ReasoningEffort;

/**
 * What one upstream accepts that other speakers of its protocol refuse. Shared code asks for a trait, never for the name
 * of a vendor. Plain data: it is sent to other threads.
 */
export interface UpstreamTraits {
  /** `max_completion_tokens` and `safety_identifier`; others know them as `max_tokens` and `user`. */
  readonly renamedMembers: boolean;
  /** `prompt_cache_key`: which requests share a cache. */
  readonly cacheKeys: boolean;
  /** `service_tier`, which chat and responses name alike. */
  readonly serviceTiers: boolean;
  /** `store`, and `metadata` by which its console finds what is stored; chat and responses name both alike. */
  readonly storage: boolean;
  /** Marks of where a prompt cache ends. */
  readonly cacheMarkers: boolean;
  /** Tokens of the shortest prompt that is cached at such marks. */
  readonly leastCached: number;
  readonly customTools: boolean;
  readonly toolNamespaces: boolean;
  /** A choice among several of the tools (`allowed_tools`). */
  readonly allowedTools: boolean;
  /** Refusals of earlier turns, as parts of their own. */
  readonly refusals: boolean;
  readonly verbosity: boolean;
  /** Instructions between the turns. Templates of open models take them at the beginning only. */
  readonly systemTurns: boolean;
  /** The efforts that the model takes, the least one first. */
  readonly efforts: readonly Effort[];
  /** The effort closest to not thinking. Null: the model has none, and no effort is sent. */
  readonly leastEffort: Effort | null;
  /** The model searches for every response; a member of the request says how, not a tool. */
  readonly alwaysSearches: boolean;
  /** Hosted tools run beside functions only if the request asks for a trace of their calls. */
  readonly toolTraces: boolean;
  /**
   * Reasoning text of earlier turns in chat. `own`: what the channel sent as `reasoning_content`, beside calls.
   * `require`: in every message of the model. `strip`: in none.
   */
  readonly reasoningEcho: 'own' | 'require' | 'strip';
}

/** What every speaker of a protocol is expected to accept. */
export const plainTraits: UpstreamTraits = Object.freeze({
  renamedMembers: false,
  cacheKeys: false,
  serviceTiers: false,
  storage: false,
  cacheMarkers: false,
  leastCached: 1024,
  customTools: false,
  toolNamespaces: false,
  allowedTools: false,
  refusals: false,
  verbosity: false,
  systemTurns: false,
  efforts: Object.freeze(['low', 'medium', 'high'] as const),
  leastEffort: null,
  alwaysSearches: false,
  toolTraces: false,
  reasoningEcho: 'own',
});

/** Of servers that refuse a history without the reasoning of their models. */
export const demandingTraits: UpstreamTraits = Object.freeze({
  ...plainTraits,
  reasoningEcho: 'require',
});

/** Of servers that refuse a history with `reasoning_content`. */
export const forbiddingTraits: UpstreamTraits = Object.freeze({
  ...plainTraits,
  reasoningEcho: 'strip',
});
