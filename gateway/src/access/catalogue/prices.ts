import { createHash } from 'node:crypto';
import type { DeclaredPrice } from '#config/index.ts';
import type { Model } from './snapshot.ts';

/** One price of one model, stored as long as receipts may name it. */
export interface PriceVersion {
  /** See `priceVersionId`. */
  readonly id: string;
  readonly model: string;
  readonly price: DeclaredPrice;
}

/**
 * The id of a price: 16 hex digits of the SHA-256 of the model and the price in its normal form. Every node computes
 * the same id for the same price, and a price that returns gets its old version again.
 */
export function priceVersionId(model: string, normal: DeclaredPrice): string {
  const content = JSON.stringify([model, normal]);
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}

/**
 * Whether the model has every price part that its type needs. Otherwise a request is refused before anything is sent,
 * because it could not be charged. The configuration contract defines the parts.
 */
export function isPriced(model: Model): boolean {
  const { price } = model;
  if (price === null) return false;
  const byTokens = price.input !== undefined && price.output !== undefined;
  switch (model.type) {
    case 'chat':
      return byTokens;
    case 'image':
      return byTokens || (price.imageTiers?.length ?? 0) > 0;
    case 'video':
      return (price.videoSecond === undefined) !== (price.videoTokens === undefined);
    case 'embedding':
      return price.input !== undefined;
  }
}
