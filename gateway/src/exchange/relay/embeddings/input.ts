import type { ExchangeInput } from '../exchange/input.ts';

/** A request for embeddings. */
export interface EmbedInput extends ExchangeInput {
  readonly protocol: 'embeddings';
  readonly operation: 'embed';
}
