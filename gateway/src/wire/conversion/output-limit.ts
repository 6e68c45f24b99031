import type { GenerationRequest } from '#canonical/index.ts';
import type { LossList } from './losses.ts';

/**
 * Upstreams refuse a limit above the model's own. A client may have set it for another model that this one replaces, so
 * it is lowered to the maximum instead.
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
