import type { Spool } from '#bodies/index.ts';
import type { BodyPool } from '#body-work/index.ts';
import type { AttemptParts } from '../attempts/parts.ts';
import type { ExchangeParts } from '../exchange/parts.ts';
import type { StateParts } from '../exchange/state/parts.ts';

/** What the operation of pictures needs. */
export interface ImageParts extends ExchangeParts, AttemptParts, StateParts {
  /** Reads large requests and responses in threads. */
  readonly bodies: BodyPool;
  readonly spool: Spool;
}
