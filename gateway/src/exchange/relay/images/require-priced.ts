import { exceededTier, ratesOf, unpricedPart, type ImageDemand } from '#billing/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { ResolvedModel } from '../exchange/find-model.ts';

/**
 * Refuses what could not be charged before an upstream draws it.
 * @param size as the client wrote it; null: it did not
 * @throws GatewayError
 */
export function requirePriced(
  { model, name }: ResolvedModel,
  demand: Pick<ImageDemand, 'layers' | 'sources'>,
  size: string | null,
): void {
  const rates = model.price === null ? null : ratesOf(model.price);
  const lacking = rates === null ? 'images' : unpricedPart(rates, demand);
  if (rates === null || lacking !== null) {
    const { part, param } = unpriced[lacking ?? 'images'];
    throw new GatewayError('model_unpriced', { values: { model: name, part }, param });
  }
  const most = size === null ? null : exceededTier(rates, size);
  if (most === null) return;
  const reason = `size must have at most ${most} pixels: this model has no price for larger pictures`;
  throw new GatewayError('invalid_value', { values: { reason }, param: 'size' });
}

/** What has no price, and the member that asks for it. */
const unpriced = {
  images: { part: '', param: 'model' },
  layers: { part: ' for layers', param: 'layer_decomposition' },
  references: { part: ' for more than one reference image', param: 'image' },
} as const;
