import type { ProtocolName, TextProtocolName } from '#canonical/index.ts';
import type { ProviderName } from '#config/index.ts';
import type { ErrorName } from '#errors/index.ts';
import type { SurchargeFacts } from './surcharges.ts';

/**
 * An upstream vendor: its paths, how to sign in, and what its errors mean. Its address, version path and protocols
 * are part of the configuration contract (`config/provider-defaults.ts`).
 */
export interface Provider {
  readonly name: ProviderName;
  /** Protocols in which it counts the tokens of a request without answering it. */
  readonly counters: readonly TextProtocolName[];
  /** The path after the base URL. The model is percent-encoded here and nowhere else. */
  path(target: UpstreamTarget): string;
  /** The credential's headers, lower-case names. Null: the channel has no credential. */
  headers(secret: string | null, protocol: ProtocolName): Readonly<Record<string, string>>;
  classify(failure: UpstreamFailure): Classification;
  /** What it charges for besides tokens. */
  readonly surcharges: SurchargeFacts;
}

export interface UpstreamTarget {
  readonly protocol: ProtocolName;
  readonly operation: 'generate' | 'count-tokens';
  readonly model: string;
  readonly stream: boolean;
}

/** An error answer of an upstream, before or inside a stream. */
export interface UpstreamFailure {
  /** Null inside a stream, unless the event names one. */
  readonly status: number | null;
  /** Parsed JSON when it was JSON, else null. Never shown to anyone but the operator. */
  readonly body: unknown;
  /** Seconds, from `retry-after` and the like; null when the upstream named none. */
  readonly retryAfter: number | null;
}

/** What an upstream's error means for the exchange and for the channel. */
export type Classification =
  /** The client's own fault: no other channel would do better. */
  | { readonly kind: 'client'; readonly error: ErrorName; readonly param?: string }
  /** Another channel may do better; `as` decides the final error when none does. */
  | {
      readonly kind: 'failover';
      readonly as: 'abnormal' | 'overloaded' | 'rate-limited' | 'model-missing';
      /** What is at fault, and so better left alone for a while. */
      readonly blame: Blame;
      /** How long, when the upstream or its kind of error says so. */
      readonly coolDownSeconds?: number;
    };

/**
 * `channel`: the upstream itself fails. `credential`: it was refused, or its account is empty. `quota`: the credential
 * is good and used too fast. `model`: this one is not to be had there. `none`: this request only.
 */
export type Blame = 'channel' | 'credential' | 'quota' | 'model' | 'none';
