import type { Hold } from '#billing/index.ts';
import type { Model } from '#catalogue/index.ts';
import { retryCountOf } from './client-retries.ts';
import type { ExchangeInput } from './input.ts';
import type { ExchangeParts } from './parts.ts';

/** One request under way, and what admission has found out about it so far. */
export interface Exchange<Input extends ExchangeInput = ExchangeInput> {
  readonly input: Input;
  /** As the client wrote it; empty while it is not known. */
  model: string;
  /** The catalogue's entry of it; null while it is not known, or when the catalogue has none. */
  catalogueModel: Model | null;
  /** Money set aside; null before that, and when nothing is billed. */
  hold: Hold | null;
  stream: boolean;
  /** How often the client says it has sent this before. */
  readonly retryCount: number;
  /** What tells this body from others; null while nobody wants to know. */
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
    // Now: once a response is shown the body is gone.
    bodyDigest: retryCount > 0 ? digestBody(input.body) : null,
  };
}
