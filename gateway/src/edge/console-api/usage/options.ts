import type { OpenDatabase } from '#database/index.ts';
import type { Reads } from '../reads.ts';
import type { ServeOptions } from '../serve-route.ts';

export interface UsageRoutesOptions extends ServeOptions {
  readonly database: OpenDatabase;
  readonly reads: Reads;
  /** Unix milliseconds. */
  readonly now: () => number;
}
