import type { BodyPool } from '#body-work/index.ts';
import type { TextOperationName, TextProtocolName } from '#canonical/index.ts';
import type { Converter } from '#conversion/index.ts';
import type { TokenEstimator } from '#estimation/index.ts';
import type { Codec, Protocol } from '#protocols/index.ts';
import type { ChannelAffinity } from '#routing/index.ts';
import type { GuardedFetch } from '#upstream/index.ts';
import type { SurchargeFacts } from '#vendors/index.ts';
import type { SendingParts } from '../attempts/tries.ts';
import type { ExchangeInput, ExchangeParts } from '../exchange.ts';
import type { SentRequest } from '../ending/record.ts';
import type { StateParts } from '../admission/named-state.ts';
import type { ItemMemory } from './items/item-memory.ts';

/** A request of one of the text endpoints. */
export interface TextInput extends ExchangeInput {
  readonly protocol: TextProtocolName;
  readonly operation: TextOperationName;
  /** How a streamed response is framed: `json-array` is generate-content without `alt=sse`. */
  readonly framing: 'event-stream' | 'json-array';
}

/** What the text operations need. */
export interface TextParts extends ExchangeParts, SendingParts, StateParts {
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

/** What is known about a text request that was sent. */
export interface TextSent extends SentRequest {
  /** What its upstream charges for in addition to tokens. */
  readonly surcharges: SurchargeFacts;
  /** See `Vendor`. */
  readonly hidesReasoningInTotal: boolean;
}
