import type { Budget } from '#json/index.ts';
import type { Losses } from '../../../shared/text/losses.ts';
import type { ModelTraits } from './model-traits.ts';

/** Shared by all steps that encode one request. */
export interface EncodeContext {
  readonly losses: Losses;
  /** The rest of the request's budget. */
  readonly budget: Budget;
  readonly model: ModelTraits;
  /** The names of the functions, by the ids of earlier calls. */
  readonly callNames: Map<string, string>;
  /** The levels of detail that the images' blocks ask for. */
  readonly details: Set<string>;
}
