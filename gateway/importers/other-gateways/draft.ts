import type { ProtocolName } from '#canonical/index.ts';
import type { DeclaredPrice, ModelType, ProviderName } from '#config/index.ts';
import type { Placeholder } from '#declaration/index.ts';

/** The content of another gateway's configuration, in this gateway's terms, before it is written as a file. */
export interface Draft {
  readonly channels: readonly DraftChannel[];
  /** What the other gateway knows about models besides their names, by the name that clients use. */
  readonly models: ReadonlyMap<string, DraftModel>;
  /** Name → a name that clients use. */
  readonly aliases: ReadonlyMap<string, string>;
  /** The first key; null if there is none to import. */
  readonly key: { readonly name: string; readonly secret: Placeholder | null } | null;
}

export interface DraftChannel {
  readonly name: string;
  readonly provider: ProviderName;
  /** Null: the provider's own address. */
  readonly baseUrl: string | Placeholder | null;
  readonly apiKeys: readonly Placeholder[];
  readonly groups: readonly string[];
  readonly models: readonly { readonly name: string; readonly upstream: string }[];
  /** Of names in the catalogue, which the channel serves besides. */
  readonly patterns: readonly string[];
  /** Null: the provider's own. */
  readonly protocols: readonly ProtocolName[] | null;
  readonly priority: number;
  readonly weight: number;
  readonly headers: Readonly<Record<string, Placeholder>>;
  readonly enabled: boolean;
}

export interface DraftModel {
  /** Null: nothing shows that it is anything but chat. */
  readonly type: Extract<ModelType, 'embedding' | 'image'> | null;
  readonly price: DeclaredPrice | null;
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
}
