import { type PriceRates, ratesOf } from '#billing/index.ts';
import type { Spool, SpoolSpace, UploadedBody } from '#bodies/index.ts';
import type { BodyPool } from '#body-work/index.ts';
import type { ImageProtocolName, TextProtocolName } from '#canonical/index.ts';
import type { Model, Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { ImagePieceReader, ImagesRequest, Protocol } from '#protocols/index.ts';
import type { GuardedFetch } from '#upstream/index.ts';
import type { SurchargeFacts } from '#vendors/index.ts';
import type { SendingParts } from '../attempts/tries.ts';
import type { Exchange, ExchangeInput, ExchangeParts } from '../exchange.ts';
import { candidatesFor } from '../admission/find-model.ts';
import type { NamingRequest, StateParts } from '../admission/named-state.ts';
import { surchargesOfAny } from '../admission/offered-terms.ts';

/** In bytes of a response: half of what is reserved for each image, since a response takes twice its bytes. */
export const perImage = 8 * 1024 * 1024;

export interface CheckedImages extends NamingRequest {
  readonly request: ImagesRequest<ImageBody>;
}

/** A checked request and the routes that can serve it. */
export interface PreparedImages {
  readonly request: ImagesRequest<ImageBody>;
  readonly model: Model;
  /** Null: no response is charged. */
  readonly rates: PriceRates | null;
  /** What the upstreams of the routes charge for in addition to tokens. */
  readonly surcharges: SurchargeFacts;
  /** In the order to try them. */
  readonly routes: readonly Route[];
  /** In bytes: the memory that is reserved for a stream or a converted response. */
  readonly reservedBytes: number;
  /** Where the response is stored until it may be shown. Released at the end of the exchange. */
  readonly space: SpoolSpace;
}

/** The body of a request: small ones are in one buffer. */
export type ImageBody = Buffer | ImageUpload;

export type ImageUpload = UploadedBody<ImagePieceReader>;

/** A request for images, in the protocol that has them. */
export interface ImageInput extends ExchangeInput {
  readonly protocol: 'images';
  readonly operation: 'generate';
  /** Which endpoint: new images, or edits of existing ones. */
  readonly form: 'generation' | 'edit';
  /** A large body, which was read as it arrived; `body` is empty then. */
  readonly upload?: ImageUpload;
}

/** What the operation of images needs. */
export interface ImageParts extends ExchangeParts, SendingParts, StateParts {
  /** Reads large requests and responses in threads. */
  readonly bodies: BodyPool;
  readonly spool: Spool;
}

/** What images in text protocols need. */
export interface ConvertedImageParts extends ImageParts {
  readonly protocols: Readonly<
    Record<TextProtocolName, Pick<Protocol, 'keepAlive' | 'encodeStreamError'>>
  >;
  /** Fetches an image that is named by its address. */
  readonly fetchMedia: GuardedFetch;
}

/** Whether a model works from images of the request. */
export function takesSources({ capabilities }: Pick<Model, 'capabilities'>): boolean {
  return capabilities.has('edits') || capabilities.has('multi_reference');
}

/** @param model as the client wrote it */
export function unable(model: string): GatewayError {
  const reason = `model '${model}' cannot use pictures of a request`;
  return new GatewayError('invalid_value', { values: { reason }, param: 'model' });
}

/**
 * What a request for images has in common whatever its protocol. `rates`: null if nothing is charged.
 * @throws GatewayError when there is no route.
 */
export function prepareShared(
  parts: Pick<ExchangeParts, 'random'>,
  { input, hold }: Pick<Exchange, 'input' | 'hold'>,
  checkedImages: NamingRequest,
  upstreams: readonly ImageProtocolName[],
): Pick<PreparedImages, 'model' | 'rates' | 'surcharges' | 'routes'> {
  const { model } = checkedImages.resolvedModel;
  const routes = candidatesFor(parts, input, checkedImages, upstreams);
  const rates = hold === null || model.price === null ? null : ratesOf(model.price);
  return { model, rates, surcharges: surchargesOfAny(routes), routes };
}
