import type {
  DeclaredChannel,
  DeclaredGroup,
  DeclaredModel,
  DeclaredPrice,
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
  readonly unusedModels: ReadonlySet<string>;
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

/** A model with what the bundled entry of the same id says where its own says nothing. */
export interface Model extends Omit<
  DeclaredModel,
  'displayName' | 'ownedBy' | 'capabilities' | 'allow' | 'imageToolModel'
> {
  readonly displayName: string;
  readonly ownedBy: string;
  readonly capabilities: ReadonlySet<string>;
  /** Surcharges that are allowed although they have no price. */
  readonly allow: ReadonlySet<string>;
  /** In its normal form; the same object as long as the price is the same. */
  readonly price: DeclaredPrice | null;
  /** The id of the price on receipts; null without a price. */
  readonly priceVersion: string | null;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** An enabled one. */
export type Group = Omit<DeclaredGroup, 'enabled'>;

export interface Channel extends Omit<
  DeclaredChannel,
  'baseUrl' | 'apiKeys' | 'models' | 'enabled'
> {
  readonly id: string;
  /** Never null here: the address of a simulator child is filled in before a snapshot is built. */
  readonly baseUrl: string;
  /** When its pauses were last ended, Unix milliseconds; null: never. */
  readonly resetAt: number | null;
  /** Clear text, in memory only; empty: no credential. */
  readonly credentials: readonly string[];
}

/** One channel that serves one model. */
export interface Route {
  readonly channel: Channel;
  readonly upstreamModel: string;
}
