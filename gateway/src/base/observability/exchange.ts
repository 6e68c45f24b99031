/**
 * The observable part of a finished exchange: an allow-list, so that nothing else can reach a log, a metric or a span.
 */
export interface FinishedExchange {
  readonly record: ExchangeFacts;
  readonly keyName: string;
  /** Null: the key acts for no team. */
  readonly teamName: string | null;
  /** The family of clients. */
  readonly client: string;
  /** The catalogue id of the model; null if the catalogue has no such model. */
  readonly modelId: string | null;
  /** How many times the client says it has retried this request. */
  readonly retryCount: number;
  /** Identical for identical bodies; null if the request neither is a retry nor will be retried. */
  readonly bodyDigest: string | null;
  /** The client's trace context, verbatim. */
  readonly traceparent: HeaderValue;
  readonly tracestate: HeaderValue;
}

type HeaderValue = string | readonly string[] | undefined;

/** The members of a usage row that are observed. Times are in milliseconds, `time` since the epoch. */
export interface ExchangeFacts {
  readonly id: string;
  readonly time: number;
  readonly keyId: string;
  readonly teamId: string | null;
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
  /** What was made besides. Absent: nothing. */
  readonly units?: ImageFacts;
  /** `reported`, `estimated`, `quarantined` or `none`. */
  readonly usageSource: string;
  /** Counters of the upstream's usage that nothing reads. Absent: none. */
  readonly usageUnread?: readonly string[];
  /** `cost` in nano-USD, as decimal digits; `part` is a name such as `unpriced.web_search`. */
  readonly charge: {
    readonly cost: string;
    readonly receipt: readonly { readonly part: string }[];
  } | null;
  readonly ttftMs: number | null;
  readonly durationMs: number;
}

export interface AttemptFacts {
  readonly channel: string;
  /** `completed`, or a short word of the gateway. */
  readonly result: string;
  readonly status: number | null;
  readonly startedAt: number;
  readonly durationMs: number;
}

/** Absent: none. */
export interface ImageFacts {
  /** Without layers. */
  readonly images?: number;
  readonly layers?: number;
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

/** A request that goes to its upstreams. References only: whoever needs something of it takes it at once. */
export interface OpenedExchange {
  readonly model: string;
  readonly stream: boolean;
  readonly input: {
    readonly id: string;
    /** Unix milliseconds. */
    readonly arrivedAt: number;
    readonly caller: {
      readonly keyId: string;
      readonly userId: string;
      readonly teamId: string | null;
    };
    readonly protocol: string;
    readonly operation: string;
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  };
}

export type ExchangeKind = 'buffered' | 'stream';

/** Called by the relay. Implementations are cheap and never throw: observation must not affect an exchange. */
export interface ExchangeObserver {
  /** An exchange passed its checks and goes to its upstreams. */
  opened(kind: ExchangeKind, exchange: OpenedExchange): void;
  /** The exchange ended. */
  closed(kind: ExchangeKind): void;
  /** Called once per exchange, refused ones included, when its usage row is durable or known to be lost. */
  finished(exchange: FinishedExchange): void;
}
