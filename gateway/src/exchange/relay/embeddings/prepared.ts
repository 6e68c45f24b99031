import type { BodyPool } from '#body-work/index.ts';
import type { Model, Route } from '#catalogue/index.ts';
import type { EmbeddingsRequest } from '#protocols/index.ts';
import type { AttemptParts } from '../attempts/attempt-options.ts';
import type { ExchangeParts } from '../exchange/exchange.ts';
import type { ExchangeInput } from '../exchange/input.ts';
import type { CheckedRequest } from '../exchange/operation.ts';

export interface CheckedEmbed extends CheckedRequest {
  readonly request: EmbeddingsRequest;
}

/** A checked request and the routes that can serve it. */
export interface PreparedEmbed {
  readonly request: EmbeddingsRequest;
  readonly model: Model;
  /** In the order to try them. */
  readonly routes: readonly Route[];
}

/** A request for embeddings. */
export interface EmbedInput extends ExchangeInput {
  readonly protocol: 'embeddings';
  readonly operation: 'embed';
}

/** What the operation of embeddings needs. */
export interface EmbedParts extends ExchangeParts, AttemptParts {
  /** Reads large requests and responses in threads. */
  readonly bodies: BodyPool;
}
