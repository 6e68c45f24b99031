/**
 * What one upstream takes of a protocol that other speakers of it refuse. Shared code asks for a trait and never for a
 * name. Plain data: it is sent to other threads.
 */
export interface UpstreamTraits {
  /** `max_completion_tokens` and `safety_identifier`; others know them as `max_tokens` and `user`. */
  readonly renamedMembers: boolean;
  /** `prompt_cache_key`: which requests share a cache. */
  readonly cacheKeys: boolean;
  /** Marks of where a prompt cache ends. */
  readonly cacheMarkers: boolean;
  readonly customTools: boolean;
  readonly toolNamespaces: boolean;
  /** A choice among several of the tools (`allowed_tools`). */
  readonly allowedTools: boolean;
  /** Refusals of earlier turns, as parts of their own. */
  readonly refusals: boolean;
  readonly verbosity: boolean;
  /** Efforts besides `low`, `medium` and `high`. */
  readonly fineEfforts: boolean;
  /** The effort that comes closest to not thinking; null: the model has none, so nothing is sent. */
  readonly leastEffort: 'none' | 'minimal' | null;
  /** The model searches for every answer; a member of the request says how, not a tool. */
  readonly alwaysSearches: boolean;
}

/** What every speaker of a protocol can be expected to take. */
export const plainTraits: UpstreamTraits = Object.freeze({
  renamedMembers: false,
  cacheKeys: false,
  cacheMarkers: false,
  customTools: false,
  toolNamespaces: false,
  allowedTools: false,
  refusals: false,
  verbosity: false,
  fineEfforts: false,
  leastEffort: null,
  alwaysSearches: false,
});

/** What one model of a vendor takes. Undefined: an upstream that nobody knows. */
export function traitsFor(
  vendor: { traitsOf?(model: string): UpstreamTraits } | undefined,
  model: string,
): UpstreamTraits {
  return vendor?.traitsOf?.(model) ?? plainTraits;
}
