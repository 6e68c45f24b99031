import type { TextProtocolName } from '#canonical/index.ts';
import type { BodyPool } from '#body-work/index.ts';
import type { Billing } from '#billing/index.ts';
import type { CatalogueSnapshot } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import type { Journal } from '#journal/index.ts';
import type { ExchangeObserver } from '#observability/index.ts';
import type { Converter } from '#conversion/index.ts';
import type { TokenEstimator } from '#estimation/index.ts';
import type { Codec, Protocol, StateKind } from '#protocols/index.ts';
import type { ChannelAffinity, ChannelHealth } from '#routing/index.ts';
import type { StateDirectory } from '#upstream-state/index.ts';
import type { UpstreamClient } from '#upstream/index.ts';
import type { Clock } from './clock.ts';
import type { DrainSlots } from './drain-slots.ts';
import type { Watch } from './watch.ts';

/** Everything the relay works with; made once by the composition root. */
export interface RelayParts {
  readonly snapshot: () => CatalogueSnapshot;
  readonly protocols: Readonly<Record<TextProtocolName, Protocol>>;
  readonly codecs: Readonly<Record<TextProtocolName, Pick<Codec, 'decodeRequest'>>>;
  readonly converter: Converter;
  /** Works on large bodies in threads. */
  readonly bodies: BodyPool;
  readonly estimator: TokenEstimator;
  readonly upstream: UpstreamClient;
  readonly health: ChannelHealth;
  readonly affinity: ChannelAffinity;
  readonly upstreamState: StateDirectory;
  /** Milliseconds for which it is known who was given which id. */
  readonly keepStateFor: number;
  readonly journal: Pick<Journal, 'append' | 'usable'>;
  readonly billing: Billing;
  readonly timeouts: Timeouts;
  readonly watch: Watch;
  readonly drains: DrainSlots;
  /** What an answer costs whose upstream does not say what it used. */
  readonly missingUsage: 'estimate' | 'zero' | 'error';
  readonly clock: Clock;
  readonly observer: ExchangeObserver;
  /** In [0, 1). */
  readonly random: () => number;
  /** A short text that is the same for the same bytes and tells nothing of them. */
  readonly digestBody: (body: Buffer) => string;
  /** A channel did not take an id: the operator may have to share what it names. */
  readonly onRefusedState: (refused: RefusedState) => void;
  /** For faults of our own, with the exchange they hurt. */
  readonly onUnexpectedError: (error: unknown, exchangeId: string) => void;
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
