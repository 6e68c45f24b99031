import type { TokenUsage } from '#canonical/index.ts';
import type { ResponseContext } from '../../../codec.ts';

/**
 * The members of a message before its content. Ids derive from the exchange's id, so that a replay repeats them. Members
 * that only the protocol's vendor fills are null, because its types require them.
 */
export function messageHead({ requestId, model }: ResponseContext) {
  return {
    id: `msg_${stem(requestId)}`,
    type: 'message',
    role: 'assistant',
    model,
    container: null,
    diagnostics: null,
  } as const;
}

/** The caller of every call: the model itself, rather than a program that it wrote. */
export const directCaller = Object.freeze({ type: 'direct' });

/** The id for a call that came without one. */
export function callId({ requestId }: ResponseContext, call: number): string {
  return `toolu_${stem(requestId)}_${call}`;
}

const stem = (requestId: string): string => requestId.replace(/^req_/, '');

interface WireUsage {
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
