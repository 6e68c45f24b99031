import { createHash } from 'node:crypto';
import type { DeclaredPrice } from '#config/index.ts';

/** One price of one model, kept for as long as receipts may name it. */
export interface PriceVersion {
  /** See `priceVersionId`. */
  readonly id: string;
  readonly model: string;
  readonly price: DeclaredPrice;
}

/**
 * The name of a price: 16 hex digits of the SHA-256 of the model and the price in its normal form. Every node that
 * sees the same price gives it the same name, and a price that returns is the version it was.
 */
export function priceVersionId(model: string, normal: DeclaredPrice): string {
  const content = JSON.stringify([model, normal]);
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}
