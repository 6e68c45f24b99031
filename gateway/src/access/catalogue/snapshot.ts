import type { ProtocolName } from '#canonical/index.ts';
import type {
  CacheRule,
  DeclaredPrice,
  ModelType,
  ProviderName,
  StateRule,
  Timeouts,
} from '#config/index.ts';

/**
 * The whole catalogue at one moment: models, channels, groups. Immutable; a change creates a new one, and a running
 * request keeps the one it started with.
 */
export interface CatalogueSnapshot {
  /** Increases with every change. */
  readonly revision: number;
  /** By catalogue id: file, console and bundled entries merged, without bundled ones that an alias replaced. */
  readonly models: ReadonlyMap<string, Model>;
  /** Alias → model id. */
  readonly aliases: ReadonlyMap<string, string>;
  /** For names that nothing else has; the first that matches is in force. */
  readonly aliasPatterns: readonly AliasPattern[];
  /** Bundled models that nobody declared and no channel serves: they do not hide a pattern. Empty without patterns. */
  readonly unused: ReadonlySet<string>;
  readonly groups: ReadonlyMap<string, Group>;
  /** Every enabled channel. */
  readonly channels: readonly Channel[];
  /** Group name → client-facing model name → the enabled channels serving it. Disabled models are included; check `Model.enabled`. */
  readonly routes: ReadonlyMap<string, ReadonlyMap<string, readonly Route[]>>;
}

export interface AliasPattern {
  readonly pattern: string;
  /** Catalogue model id. */
  readonly model: string;
}

export interface Model {
  readonly id: string;
  readonly type: ModelType;
  readonly displayName: string;
  readonly ownedBy: string;
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
  readonly capabilities: ReadonlySet<string>;
  readonly echoReasoning: 'require' | 'allow' | 'strip' | null;
  /** Surcharges that are allowed although they have no price. */
  readonly allow: ReadonlySet<string>;
  readonly enabled: boolean;
  /** In its normal form; the same object as long as the price is the same. */
  readonly price: DeclaredPrice | null;
  /** The id of the price on receipts; null without a price. */
  readonly priceVersion: string | null;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

export interface Group {
  readonly name: string;
  /** Decimal string. */
  readonly priceMultiplier: string;
}

export interface Channel {
  readonly id: string;
  readonly name: string;
  readonly provider: ProviderName;
  /** Never null here: the address of a simulator child is filled in before a snapshot is built. */
  readonly baseUrl: string;
  /** Clear text, in memory only; empty: no credential. */
  readonly credentials: readonly string[];
  readonly protocols: readonly ProtocolName[];
  readonly groups: readonly string[];
  readonly priority: number;
  readonly weight: number;
  readonly userAgents: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly timeouts: Partial<Timeouts>;
  /** The URL of a proxy, with its credentials, or `direct`; null: the environment decides. In memory only. */
  readonly proxy: string | null;
  readonly billsAfterCancel: boolean;
  readonly cache: CacheRule;
  readonly state: StateRule;
  readonly sharedState: readonly string[];
}

/** One channel that serves one model. */
export interface Route {
  readonly channel: Channel;
  readonly upstreamModel: string;
}
