import type { PictureProtocolName } from '#canonical/index.ts';
import type { PictureRequest } from '#canonical/index.ts';
import type { Model, Route } from '#catalogue/index.ts';
import type { NamingRequest } from '../../exchange/state/authorize-names.ts';
import type { MeasuredRequest } from '../measure-images.ts';
import type { OpenedPictures } from './surface.ts';

/** How many pictures a request asks for, and with what. */
export interface PictureDemand {
  readonly images: number;
  readonly layers: false;
  readonly sources: number;
  readonly promptBytes: number;
  readonly terms: readonly string[];
  readonly searches: boolean;
}

export interface CheckedPictures extends NamingRequest {
  readonly opened: OpenedPictures;
  readonly demand: PictureDemand;
}

/** A request that can be converted for any upstream. */
export interface ConvertiblePictures extends MeasuredRequest {
  readonly opened: Pick<OpenedPictures, 'model' | 'refusal' | 'encode'> & {
    /** The request to an upstream of the client's own protocol, unconverted. Null: there is no such upstream. */
    readonly own: {
      readonly protocol: PictureProtocolName;
      bodyFor(upstreamModel: string): Buffer;
    } | null;
    /** Called when the first upstream of another protocol has its turn. @throws GatewayError */
    readonly read: () => PictureRequest | Promise<PictureRequest>;
    /** The request will not be sent again: releases its body. */
    readonly done: () => void;
  };
  readonly model: Model;
  /** In bytes: the memory that is reserved for the response. */
  readonly reserved: number;
}

/** With the routes that can serve it, in the order to try them. */
export interface PreparedPictures extends ConvertiblePictures {
  readonly routes: readonly Route[];
}
