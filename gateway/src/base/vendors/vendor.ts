import type { OperationName, ProtocolName, TextProtocolName } from '#canonical/index.ts';
import type { ErrorName } from '#errors/index.ts';
import type { Quirk } from './quirks.ts';
import type { SurchargeFacts } from './surcharges.ts';
import type { UpstreamTraits } from './traits.ts';

/** What is known of a vendor whether or not anything here calls it yet. */
export interface VendorFacts {
  /** The folder's name, and the value of a channel's `provider`. */
  readonly name: string;
  /** Null: a channel must say, or (`runsHere`) the address is that of a child process. */
  readonly baseUrl: string | null;
  /** Appended to a base URL that has no path. */
  readonly versionPath: string;
  /** What it really speaks: the protocols of a channel that lists none. */
  readonly protocols: readonly ProtocolName[];
  /** The variable that offers a first channel when nothing is configured. */
  readonly environmentKey: string | null;
  /** `owned_by` of its models in the bundled catalogue. Absent: the catalogue has none. */
  readonly ownedBy?: string;
  /** `gen_ai.provider.name` where the conventions of OpenTelemetry have another name. */
  readonly telemetryName?: string;
  /** Comes with the gateway: a channel without an address gets a child process. */
  readonly runsHere?: boolean;
  /** One name for many vendors: none can read the reasoning state that another one made. */
  readonly isManyVendors?: boolean;
}

/** A vendor that requests can be sent to: addresses, how to sign in, and what its errors mean. */
export interface Vendor extends VendorFacts {
  /** Protocols in which it counts the tokens of a request without answering it. */
  readonly countsTokensIn: readonly TextProtocolName[];
  /** The path after the base URL. The model is percent-encoded here and nowhere else. */
  path(target: UpstreamTarget): string;
  /** The credential's headers, and others that it wants, by lower-case name. Null: the channel has no credential. */
  headers(secret: string | null, protocol: ProtocolName): Readonly<Record<string, string>>;
  /** Whether a client header, by lower-case name, is forwarded besides the usual ones. Absent: none is. */
  forwards?(header: string): boolean;
  classify(failure: UpstreamFailure): Classification;
  /** What it charges for besides tokens. */
  readonly surcharges: SurchargeFacts;
  /** What a model takes that other speakers of the protocol do not. Absent: `plainTraits`. */
  traitsOf?(model: string): UpstreamTraits;
  /** What it refuses of a protocol, declared as edits of a request. Absent: nothing. */
  readonly quirks?: readonly Quirk[];
}

/** A vendor without a `provider` value of its own: its channels name another one, and their address tells who it is. */
export interface HostedVendor extends Vendor {
  readonly provider: 'openai-compatible';
  readonly baseUrl: string;
}

export interface UpstreamTarget {
  readonly protocol: ProtocolName;
  readonly operation: OperationName;
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
      /** The cool-down, if the upstream or its kind of error determines it. */
      readonly coolDownSeconds?: number;
    };

/**
 * `channel`: the upstream itself fails. `credential`: it was refused, or its account is empty. `quota`: the credential
 * is good and used too fast. `model`: this one is not to be had there. `none`: this request only.
 */
export type Blame = 'channel' | 'credential' | 'quota' | 'model' | 'none';
