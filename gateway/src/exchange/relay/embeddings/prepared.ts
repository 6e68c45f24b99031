import type { Model, Route } from '#catalogue/index.ts';
import type { EmbeddingsRequest } from '#protocols/index.ts';
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
