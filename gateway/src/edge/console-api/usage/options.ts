import type { Reads } from '../reads.ts';
import type { ServeOptions } from '../serve-route.ts';

export interface UsageRoutesOptions extends ServeOptions {
  readonly reads: Reads;
  /** Unix milliseconds. */
  readonly now: () => number;
}
