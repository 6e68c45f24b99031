import type { ProtocolName, TokenPart } from '#canonical/index.ts';
import type { ProviderName } from '#vendors/index.ts';
import type { Settings } from './schema/settings.ts';

export type { ProviderName } from '#vendors/index.ts';

/** A decimal string in USD exactly as written, validated: digits, optional fraction, optional leading `-`. */
export type Decimal = string;

/**
 * The whole configuration after expansion, validation and defaults: frozen, units resolved. Settings take
 * camelCase names here; `declared` keeps what the file says about rows of the database.
 */
export interface Config extends Omit<Settings, 'server'> {
  /** The file that was read, as the user named it; null on the embedded defaults. */
  readonly file: string | null;
  /** SHA-256 of the file's lists, whatever its settings, comments and layout are; null without a file. */
  readonly listsDigest: string | null;
  readonly server: Omit<Settings['server'], 'tls'> & {
    /** PEM file paths, both or none. */
    readonly tls: { readonly cert: string; readonly key: string } | null;
  };
  /** Null without a file: then nothing in the database is file-owned and nothing is applied. */
  readonly declared: Declared | null;
  readonly proxies: ProxySettings;
  /** Provider API keys found in the environment (`OPENAI_API_KEY`, …), for the first start without a channel. */
  readonly environmentKeys: readonly { readonly provider: ProviderName; readonly apiKey: string }[];
}

/** Each in milliseconds. */
export type Timeouts = Settings['timeouts'];
export type VideoSettings = Settings['video'];
export type LimitSettings = Settings['limits'];

/** `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` of the environment. */
export interface ProxySettings {
  /** The URL of the proxy for origins over http, with its credentials; null: none. */
  readonly http: string | null;
  /** The same over https. */
  readonly https: string | null;
  /** What is reached directly. */
  readonly direct: readonly string[];
}

/** The file's lists, validated and with references checked, in the file's own order. */
export interface Declared {
  /** Only those the file names; `default` exists without being named. */
  readonly groups: readonly DeclaredGroup[];
  readonly channels: readonly DeclaredChannel[];
  readonly models: readonly DeclaredModel[];
  /** Alias → catalogue model id. */
  readonly aliases: Readonly<Record<string, string>>;
  readonly users: readonly DeclaredUser[];
  readonly teams: readonly DeclaredTeam[];
  readonly keys: readonly DeclaredKey[];
}

export interface DeclaredGroup {
  readonly name: string;
  /** Up to six decimals. */
  readonly priceMultiplier: Decimal;
}

export interface DeclaredChannel {
  readonly name: string;
  readonly provider: ProviderName;
  /** Null for a simulator channel that runs as a child process. */
  readonly baseUrl: string | null;
  /** Used in turn; empty for an upstream without a credential. */
  readonly apiKeys: readonly string[];
  readonly protocols: readonly ProtocolName[];
  readonly groups: readonly string[];
  readonly models: readonly ServedModel[];
  readonly priority: number;
  readonly weight: number;
  /** Globs; empty = any client. */
  readonly userAgents: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly timeouts: Partial<Timeouts>;
  /** The URL of a proxy, with its credentials, or `direct`; null: the environment decides. */
  readonly proxy: string | null;
  readonly billsAfterCancel: boolean;
  /** `auto`: the gateway places the marks of prompt caches in converted requests where reading them is cheaper. */
  readonly cache: CacheRule;
  /** Which stored upstream ids a request may name. */
  readonly state: StateRule;
  /** Ids or patterns that every caller may name; `*` in a pattern is any text. */
  readonly sharedState: readonly string[];
  readonly enabled: boolean;
}

export const cacheRules = ['auto', 'off'] as const;
export type CacheRule = (typeof cacheRules)[number];

export const stateRules = ['guarded', 'owned', 'any'] as const;

/** `guarded`: no id of another owner. `owned`: also no id that this gateway never gave out. `any`: unchecked. */
export type StateRule = (typeof stateRules)[number];

/** A model a channel serves: the name clients use, and the upstream's own name for it. */
export interface ServedModel {
  readonly name: string;
  readonly upstream: string;
}

/** What kind of work a model does, and so which endpoints can call it. */
export const modelTypes = ['chat', 'image', 'video', 'embedding'] as const;

export type ModelType = (typeof modelTypes)[number];

export interface DeclaredModel {
  readonly id: string;
  readonly type: ModelType;
  readonly displayName: string | null;
  readonly ownedBy: string | null;
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
  readonly capabilities: readonly string[];
  readonly echoReasoning: 'require' | 'allow' | 'strip' | null;
  /** Surcharges that may be asked for although they have no price, such as `service_tier.flex`. */
  readonly allow: readonly string[];
  /** Accepted, and without effect: nothing draws for upstreams that lack the tool `image_generation` of Responses. */
  readonly imageToolModel?: string | null;
  readonly enabled: boolean;
  /** Null: no price set; the model is listed but refused as unpriced. */
  readonly price: DeclaredPrice | null;
}

/** Prices as decimal strings, USD per million tokens; absent parts are absent. */
export type TokenPrices = { readonly [Part in TokenPart]?: Decimal };

/** Prices as decimal strings, per token or as named; absent parts are absent. */
export interface DeclaredPrice extends TokenPrices {
  /** By the length of the prompt, ascending. The whole prompt chooses one tier for all parts; up to the first, none. */
  readonly tiers?: readonly PromptTier[];
  readonly imageTiers?: readonly {
    readonly name: string;
    readonly maxPixels: number;
    readonly price: Decimal;
  }[];
  readonly layerFactor?: Decimal;
  readonly referenceImage?: Decimal;
  /** Resolution → USD per second. */
  readonly videoSecond?: Readonly<Record<string, Decimal>>;
  /** Resolution → USD per million tokens. */
  readonly videoTokens?: Readonly<
    Record<string, { readonly text: Decimal; readonly withVideo: Decimal }>
  >;
  /** `service_tier.priority` → the factor for every token price when the response reports it. */
  readonly multipliers?: Readonly<Record<string, Decimal>>;
  /** `web_search` → USD per use that the response reports. */
  readonly fees?: Readonly<Record<string, Decimal>>;
}

/** Prices of prompts of more than `above` tokens. A part that is absent costs what it costs without tiers. */
export interface PromptTier extends TokenPrices {
  readonly above: number;
}

/** What people may do at the console. */
export const userRoles = ['admin', 'operator', 'billing', 'viewer', 'member'] as const;

export interface DeclaredUser {
  readonly email: string;
  readonly name: string | null;
  readonly role: (typeof userRoles)[number];
  /** Opening credit. */
  readonly balance: Decimal;
  readonly quota: Decimal | null;
  /** Of which people without a say over all keys may make keys of their own. */
  readonly groups: readonly string[];
  readonly enabled: boolean;
}

export interface DeclaredTeam {
  readonly name: string;
  readonly balance: Decimal;
  readonly rpm: number | null;
  readonly budget: {
    readonly daily: Decimal | null;
    readonly monthly: Decimal | null;
    readonly total: Decimal | null;
  };
  readonly timeZone: string;
  /** Of which its members may make keys that act for it. */
  readonly groups: readonly string[];
  readonly members: readonly {
    readonly user: string;
    readonly role: 'owner' | 'member';
    readonly budget: Decimal | null;
  }[];
}

export interface DeclaredKey {
  readonly name: string;
  /** Null: the settings are declared, the secret comes from `sluice key create`. */
  readonly secret: string | null;
  readonly user: string;
  readonly team: string | null;
  readonly group: string;
  readonly models: readonly string[];
  readonly quota: Decimal | null;
  /** Unix milliseconds. */
  readonly expiresAt: number | null;
  readonly ips: readonly string[];
  readonly rpm: number | null;
  readonly rph: number | null;
  readonly maxConcurrency: number | null;
  readonly conversion: 'lenient' | 'strict';
  /** Whether its requests get a lower output limit if little money is left. */
  readonly capOutput: boolean;
  readonly enabled: boolean;
}
