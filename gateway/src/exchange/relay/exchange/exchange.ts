import type { Hold } from '#billing/index.ts';
import type { Model } from '#catalogue/index.ts';
import { retryCountOf } from './client-retries.ts';
import type { ExchangeInput } from './input.ts';
import type { ExchangeParts } from './parts.ts';

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
