import type { ProviderName } from '#vendors/index.ts';
import type {
  DeclaredChannel,
  DeclaredGroup,
  DeclaredKey,
  DeclaredModel,
  DeclaredTeam,
  DeclaredUser,
} from './kinds/index.ts';
import type { Settings } from './settings.ts';

export type { ProviderName } from '#vendors/index.ts';

/**
 * The whole configuration after expansion, validation and defaults: frozen, units resolved. Settings take
 * camelCase names here; `declared` keeps what the file says about rows of the database.
 */
export interface Config extends Omit<Settings, 'server'> {
  /** The file that was read, as the user named it; null on the embedded defaults. */
  readonly file: string | null;
  /** SHA-256 of the file's lists, whatever its settings, comments and layout are; null without a file. */
  readonly listsDigest: string | null;
  /** Where the settings are from that do not have their default, by their path in the file: `server.port`. */
  readonly origins: Readonly<Record<string, Origin>>;
  /** The line of each entry of the file's lists, in their order. */
  readonly lines: Readonly<Partial<Record<keyof Declared, readonly number[]>>>;
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

/** Where a setting is set. */
export type Origin =
  | {
      readonly from: 'file';
      readonly line: number;
      /** What is filled in there: names of variables, and `file:/run/secrets/x`. */
      readonly variables: readonly string[];
    }
  /** The file leaves it out. */
  | { readonly from: 'environment'; readonly variables: readonly string[] };

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
