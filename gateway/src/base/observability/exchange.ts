/** What is observed of a finished exchange: an allow-list, so that nothing else can reach a log, a metric or a span. */
export interface FinishedExchange {
  readonly record: ExchangeFacts;
  readonly keyName: string;
  /** The catalogue's id of the model; null when the request named none that the catalogue has. */
  readonly modelId: string | null;
  /** How often the client says it has sent this before. */
  readonly retryCount: number;
  /** The same for the same body; null when no try came before and none will follow. */
  readonly bodyDigest: string | null;
  /** The client's trace context, as it came. */
  readonly traceparent: HeaderValue;
  readonly tracestate: HeaderValue;
}

type HeaderValue = string | readonly string[] | undefined;

/** The members of a usage row that are observed. Times in milliseconds, `time` since the epoch. */
export interface ExchangeFacts {
  readonly id: string;
  readonly time: number;
  readonly keyId: string;
  /** As the client wrote it. */
  readonly model: string;
  readonly upstreamModel: string | null;
  readonly channel: string | null;
  readonly protocol: string;
  readonly operation: string;
  readonly stream: boolean;
  readonly outcome: string;
  readonly status: number;
  /** The catalogue error's name. */
  readonly error: string | null;
  readonly attempts: readonly AttemptFacts[];
  readonly tokens: TokenFacts;
  /** `reported`, `estimated`, `quarantined` or `none`. */
  readonly usageSource: string;
  /** Of its receipt the parts' names: `unpriced.web_search`. */
  readonly charge: { readonly receipt: readonly { readonly part: string }[] } | null;
  readonly ttftMs: number | null;
  readonly durationMs: number;
}

export interface AttemptFacts {
  readonly channel: string;
  /** `completed`, or a short word of ours. */
  readonly result: string;
  readonly status: number | null;
  readonly startedAt: number;
  readonly durationMs: number;
}

/** Disjoint, except `reasoning`, which is part of `output`. */
export interface TokenFacts {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  readonly output: number;
  readonly reasoning: number;
}

export type ExchangeKind = 'buffered' | 'stream';

/** Told by the relay. Cheap, and never throws: no exchange suffers for being watched. */
export interface ExchangeObserver {
  /** An exchange that passed its checks goes to its upstreams. */
  opened(kind: ExchangeKind): void;
  /** That exchange is over. */
  closed(kind: ExchangeKind): void;
  /** Every exchange once, refused ones too, when its usage row is durable (or known to be lost). */
  finished(exchange: FinishedExchange): void;
}
