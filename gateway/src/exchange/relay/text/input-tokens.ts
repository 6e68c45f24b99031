import { usualImageTokens } from '#estimation/index.ts';
import { estimateInputTokens } from '#protocols/index.ts';
import type { PreparedText } from './prepared.ts';

/** Of a prepared request, what an estimate of its tokens takes. */
export type CountedText = Pick<PreparedText, 'inputTokens' | 'request' | 'model' | 'routes'>;

/** An estimate of the request's tokens, for when no upstream reports how many there were. */
export function inputTokensOf({ inputTokens, request, model, routes }: CountedText): number {
  if (inputTokens !== null) return inputTokens;
  if (request.extent.images === 0) return estimateInputTokens(request);
  // Every channel of a model has the same one, whatever they call it.
  const target = { model: routes[0]?.upstreamModel ?? model.id, protocol: 'chat' } as const;
  return estimateInputTokens(request, usualImageTokens(target));
}
