import type { PriceRates } from '#billing/index.ts';
import type { SpoolSpace } from '#bodies/index.ts';
import type { Model, Route } from '#catalogue/index.ts';
import type { ImageRequest } from '#protocols/index.ts';
import type { SurchargeFacts } from '#vendors/index.ts';
import type { NamingRequest } from '../exchange/state/authorize-names.ts';
import type { ImageBody } from './input.ts';

/** In bytes of a response: half of what is reserved for each picture, since a response takes twice its bytes. */
export const perPicture = 8 * 1024 * 1024;

export interface CheckedImages extends NamingRequest {
  readonly request: ImageRequest<ImageBody>;
}

/** A checked request and the routes that can serve it. */
export interface PreparedImages {
  readonly request: ImageRequest<ImageBody>;
  readonly model: Model;
  /** Null: nothing is charged, whatever the response is. */
  readonly rates: PriceRates | null;
  /** What the upstreams of the routes charge for besides tokens. */
  readonly surcharges: SurchargeFacts;
  /** In the order to try them. */
  readonly routes: readonly Route[];
  /** In bytes: the memory that is reserved for a stream or a converted response. */
  readonly reserved: number;
  /** Where the response is stored until it may be shown. Released at the end of the exchange. */
  readonly space: SpoolSpace;
}
