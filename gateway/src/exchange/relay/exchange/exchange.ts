import type { Billing, Hold } from '#billing/index.ts';
import type { CatalogueSnapshot, Model } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import type { CondensedJournal } from '#journal/index.ts';
import type { ExchangeObserver } from '#observability/index.ts';
import type { ExchangeInput } from './input.ts';
import type { Clock } from './ticker.ts';

/** One request being served, with what admission has found out so far. */
export interface Exchange<Input extends ExchangeInput = ExchangeInput> {
  readonly input: Input;
  /** As the client wrote it; empty until it is known. */
  model: string;
  /** The model's entry in the catalogue; null until it is known, or if there is none. */
  catalogueModel: Model | null;
  /** The money held; null before that, and if nothing is billed. */
  hold: Hold | null;
  stream: boolean;
  /** How often the client says that it has sent this request before. */
  readonly retryCount: number;
  /** Identifies equal bodies in the log; null if nobody needs it. */
  readonly bodyDigest: string | null;
}

export function openExchange<Input extends ExchangeInput>(
  { digestBody }: Pick<ExchangeParts, 'digestBody'>,
  input: Input,
): Exchange<Input> {
  const retryCount = retryCountOf(input);
  return {
    input,
    model: input.pathModel ?? '',
    catalogueModel: null,
    hold: null,
    stream: input.pathStream ?? false,
    retryCount,
    // Computed now, because the body is gone once a response is shown.
    bodyDigest: retryCount > 0 && input.body.length > 0 ? digestBody(input.body) : null,
  };
}

/**
 * How often the client's SDK has sent this request before, according to `x-stainless-retry-count`; 0 if the header is
 * absent or not a number. A repeated request is treated like any other; the count appears only in the log.
 */
export function retryCountOf({ headers }: Pick<ExchangeInput, 'headers'>): number {
  const text = headers['x-stainless-retry-count'];
  return typeof text === 'string' && /^\d{1,2}$/.test(text) ? Number(text) : 0;
}

/**
 * Whether the client may send the request again: after the statuses that the SDKs of both vendors retry (`shouldRetry`
 * in their clients), and after 499, because a client that did not wait may come back.
 */
export function mayBeRetried(status: number): boolean {
  return status >= 499 || status === 429 || status === 408 || status === 409;
}

/** What every exchange needs, whatever its operation. */
export interface ExchangeParts {
  readonly snapshot: () => CatalogueSnapshot;
  readonly journal: Pick<CondensedJournal, 'append' | 'begin' | 'usable' | 'unpaidFor'>;
  readonly billing: Billing;
  /** The gateway's settings; a channel's own take precedence. */
  readonly timeouts: Timeouts;
  /** How a response is charged if its upstream reports no usage. */
  readonly missingUsage: 'estimate' | 'zero' | 'error';
  readonly clock: Clock;
  readonly observer: ExchangeObserver;
  /** In [0, 1). */
  readonly random: () => number;
  /** A short text, the same for the same bytes, that reveals nothing about them. */
  readonly digestBody: (body: Buffer) => string;
  /** Called with defects of the gateway and the exchange that they affect. */
  readonly onUnexpectedError: (error: unknown, exchangeId: string) => void;
}
