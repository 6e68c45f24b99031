import type { BodyPool } from '#body-work/index.ts';
import type { TextProtocolName } from '#canonical/index.ts';
import type { Converter } from '#conversion/index.ts';
import type { TokenEstimator } from '#estimation/index.ts';
import type { Codec, Protocol, StateKind } from '#protocols/index.ts';
import type { ChannelAffinity } from '#routing/index.ts';
import type { StateDirectory } from '#upstream-state/index.ts';
import type { AttemptParts } from '../attempts/parts.ts';
import type { ExchangeParts } from '../exchange/parts.ts';

/** What the text operations need. */
export interface TextParts extends ExchangeParts, AttemptParts {
  readonly protocols: Readonly<Record<TextProtocolName, Protocol>>;
  readonly codecs: Readonly<Record<TextProtocolName, Pick<Codec, 'decodeRequest'>>>;
  readonly converter: Converter;
  /** Works on large bodies in threads. */
  readonly bodies: BodyPool;
  readonly estimator: TokenEstimator;
  readonly affinity: ChannelAffinity;
  readonly upstreamState: StateDirectory;
  /** Milliseconds for which it is known who was given which id. */
  readonly keepStateFor: number;
  /** A channel did not take an id: the operator may have to share what it names. */
  readonly onRefusedState: (refused: RefusedState) => void;
}

/** Nothing of it tells whose the id is. */
export interface RefusedState {
  readonly requestId: string;
  /** Its name. */
  readonly channel: string;
  readonly kind: StateKind;
  /** Of the id. */
  readonly digest: string;
}
