import type { TokenUsage } from '#canonical/index.ts';

export interface WireUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly thinking_tokens: number };
  readonly inference_geo: null;
  readonly server_tool_use: null;
  readonly service_tier: null;
  readonly speed: null;
}

/** Without a report of usage, the estimate of the input is all that is known. */
export function encodeUsage(usage: TokenUsage | null, estimatedInput: number): WireUsage {
  const cacheWrite = usage?.cacheWrite ?? 0;
  const cacheWrite1h = usage?.cacheWrite1h ?? 0;
  return {
    input_tokens: usage?.input ?? estimatedInput,
    cache_creation_input_tokens: cacheWrite + cacheWrite1h,
    cache_read_input_tokens: usage?.cacheRead ?? 0,
    cache_creation: {
      ephemeral_5m_input_tokens: cacheWrite,
      ephemeral_1h_input_tokens: cacheWrite1h,
    },
    output_tokens: usage?.output ?? 0,
    output_tokens_details: { thinking_tokens: usage?.reasoning ?? 0 },
    inference_geo: null,
    server_tool_use: null,
    service_tier: null,
    speed: null,
  };
}
