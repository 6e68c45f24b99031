import type { BodyPool } from '#body-work/index.ts';
import type { TextProtocolName } from '#canonical/index.ts';
import type { Converter } from '#conversion/index.ts';
import type { TokenEstimator } from '#estimation/index.ts';
import type { Codec, Protocol } from '#protocols/index.ts';
import type { ChannelAffinity } from '#routing/index.ts';
import type { GuardedFetch } from '#upstream/index.ts';
import type { AttemptParts } from '../attempts/parts.ts';
import type { ExchangeParts } from '../exchange/parts.ts';
import type { StateParts } from '../exchange/state/parts.ts';
import type { ItemMemory } from './items/item-memory.ts';

/** What the text operations need. */
export interface TextParts extends ExchangeParts, AttemptParts, StateParts {
  readonly protocols: Readonly<Record<TextProtocolName, Protocol>>;
  readonly codecs: Readonly<Record<TextProtocolName, Pick<Codec, 'decodeRequest' | 'fieldName'>>>;
  readonly converter: Converter;
  readonly items: ItemMemory;
  /** The pool of threads for large bodies. */
  readonly bodies: BodyPool;
  readonly fetchMedia: GuardedFetch;
  readonly estimator: TokenEstimator;
  readonly affinity: ChannelAffinity;
  /** Whether requests get a lower output limit if little money is left. */
  readonly capOutput: boolean;
  /** Nano-USD that a stream may cost beyond what is left. */
  readonly overshoot: bigint;
  /** How many milliseconds it is remembered who was given which id. */
  readonly keepStateFor: number;
}
