import { usualImageTokens } from '#estimation/index.ts';
import { estimateInputTokens } from '#protocols/index.ts';
import type { PreparedText } from './prepared.ts';

/** The parts of a prepared request that an estimate of its tokens needs. */
export type CountedText = Pick<PreparedText, 'inputTokens' | 'request' | 'model' | 'routes'>;

/** Estimates the request's tokens, for when no upstream reports them. */
export function inputTokensOf({ inputTokens, request, model, routes }: CountedText): number {
  if (inputTokens !== null) return inputTokens;
  if (request.extent.images === 0) return estimateInputTokens(request);
  // All channels have the same model, whatever they call it, so the first name will do.
  const target = { model: routes[0]?.upstreamModel ?? model.id, protocol: 'chat' } as const;
  return estimateInputTokens(request, usualImageTokens(target));
}
