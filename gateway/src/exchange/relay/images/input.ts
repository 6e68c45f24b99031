import type { ExchangeInput } from '../exchange/input.ts';

/** A request for pictures, in the protocol that has them. */
export interface ImageInput extends ExchangeInput {
  readonly protocol: 'images';
  readonly operation: 'generate';
  /** Which endpoint: new pictures, or edits of existing ones. */
  readonly form: 'generation' | 'edit';
}
