import type { GenerationRequest } from '#canonical/index.ts';
import type { LossList } from './losses.ts';

/**
 * Upstreams refuse a limit above the model's own. A client that wrote it for another model, for which this one stands
 * in, gets as much as there is rather than nothing.
 */
export function limitOutput(
  request: GenerationRequest,
  most: number | null,
  losses: LossList,
): GenerationRequest {
  const { maxOutputTokens } = request;
  if (maxOutputTokens === null || most === null || maxOutputTokens <= most) return request;
  losses.approximated('max_output_tokens');
  return { ...request, maxOutputTokens: most };
}
