import type { PictureProtocolName, PictureRequest, PictureResponse } from '#canonical/index.ts';
import type { Model, Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { ModelEcho, NamedState, PictureClient, PictureStreamTap } from '#protocols/index.ts';
import type { NamingRequest } from '../../exchange/named-state.ts';
import type { TextInput } from '../../text/input.ts';
import type { MeasuredRequest, StreamMeter } from '../measure-images.ts';
import type { PictureEvents } from '../picture-stream.ts';
import type { PictureParts } from '../prepared.ts';

/** Whose request for pictures it is. */
export interface PictureSide {
  readonly protocol: PictureClient;
  /** The protocols that upstreams may speak, the preferred one first. */
  readonly upstreams: readonly PictureProtocolName[];
}

/** How clients of a protocol get their pictures in a stream. */
export interface StreamedPictures extends PictureEvents {
  /** @param accepts whether a picture may be shown */
  createTap(echo: ModelEcho, accepts: StreamMeter['accepts']): PictureStreamTap;
}

/** How clients of a text protocol ask for pictures, and how they get them. */
export interface PictureSurface extends PictureSide {
  /** How pictures are streamed. Absent: `encode` writes the whole stream. */
  readonly streamed?: StreamedPictures;
  /**
   * Reads a request, a large one in a thread.
   * @throws GatewayError, ClientGone
   */
  open(
    input: TextInput,
    parts: Pick<PictureParts, 'bodies' | 'ticker'>,
  ): OpenedPictures | Promise<OpenedPictures>;
}

/** A request for pictures that was read and checked, except for what depends on the model. */
export interface OpenedPictures {
  readonly model: string;
  readonly stream: boolean;
  readonly request: PictureRequest;
  /** Why only an upstream of the client's own protocol can take the request; null: any can. */
  readonly refusal: GatewayError | null;
  /** Bytes of text in the request. */
  readonly promptBytes: number;
  /** The way of the request to an upstream of the client's own protocol, unconverted. Null: there is no such upstream. */
  readonly own: OwnPictures | null;
  /** The whole response of an upstream of another protocol, as the client wants it, in pieces. */
  encode(response: PictureResponse): Iterable<Buffer>;
}

export interface OwnPictures {
  readonly protocol: PictureProtocolName;
  /** What it asks for that may cost more, as prices name it. */
  readonly terms: readonly string[];
  /** How many responses it asks for: an upstream of its own protocol may take more than others. */
  readonly candidates: number;
  /** What it names that upstreams store. */
  readonly named: readonly NamedState[] | undefined;
  /** The upstream may search. */
  readonly searches: boolean;
  /** @param body of the request; it is not kept, because it may be megabytes */
  bodyFor(body: Buffer, upstreamModel: string): Buffer;
}

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
