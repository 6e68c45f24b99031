import type { Budget } from '#json/index.ts';
import type { Losses } from '../../../losses.ts';
import type { ModelTraits } from './model-traits.ts';

/** What encoding the pieces of one request shares. */
export interface EncodeContext {
  readonly losses: Losses;
  /** What the request may still make. */
  readonly budget: Budget;
  readonly model: ModelTraits;
  /** The functions' names by the ids of the calls before. */
  readonly callNames: Map<string, string>;
  /** How closely the images are to be looked at, as their blocks say. */
  readonly details: Set<string>;
}
