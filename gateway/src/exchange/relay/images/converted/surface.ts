import type { ImageProtocolName, ImageRequest, ImageResponse } from '#canonical/index.ts';
import type { Model, Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { ModelEcho, NamedState, ImageClient, ImageStreamTap } from '#protocols/index.ts';
import type { NamingRequest } from '../../admission/named-state.ts';
import type { TextInput } from '../../text/input.ts';
import type { MeasuredRequest, StreamMeter } from '../measure-images.ts';
import type { ImageEvents } from '../image-stream.ts';
import type { ConvertedImageParts } from '../prepared.ts';

/** Whose request for images it is. */
export interface ImageSide {
  readonly protocol: ImageClient;
  /** The protocols that upstreams may speak, the preferred one first. */
  readonly upstreams: readonly ImageProtocolName[];
}

/** How clients of a protocol get their images in a stream. */
export interface StreamedImages extends ImageEvents {
  /** @param accepts whether an image may be shown */
  createTap(echo: ModelEcho, accepts: StreamMeter['accepts']): ImageStreamTap;
}

/** How clients of a text protocol ask for images, and how they get them. */
export interface ImageSurface extends ImageSide {
  /** How images are streamed. Absent: `encode` writes the whole stream. */
  readonly streamed?: StreamedImages;
  /**
   * Reads a request, a large one in a thread.
   * @throws GatewayError, ClientGone
   */
  open(
    input: TextInput,
    parts: Pick<ConvertedImageParts, 'bodies' | 'ticker'>,
  ): OpenedImageConversion | Promise<OpenedImageConversion>;
}

/** A request for images that was read and checked, except for what depends on the model. */
export interface OpenedImageConversion {
  readonly model: string;
  readonly stream: boolean;
  readonly request: ImageRequest;
  /** Why only an upstream of the client's own protocol can take the request; null: any can. */
  readonly refusal: GatewayError | null;
  /** Bytes of text in the request. */
  readonly promptBytes: number;
  /** The way of the request to an upstream of the client's own protocol, unconverted. Null: there is no such upstream. */
  readonly own: OwnImages | null;
  /** The whole response of an upstream of another protocol, as the client wants it, in pieces. */
  encode(response: ImageResponse): Iterable<Buffer>;
}

export interface OwnImages {
  readonly protocol: ImageProtocolName;
  /** What it asks for that may cost more, as prices name it. */
  readonly terms: readonly string[];
  /** How many responses it asks for: an upstream of its own protocol may take more than others. */
  readonly candidates: number;
  /** What it names that upstreams store. */
  readonly namedStates: readonly NamedState[] | undefined;
  /** The upstream may search. */
  readonly searches: boolean;
  /** @param body of the request; it is not kept, because it may be megabytes */
  bodyFor(body: Buffer, upstreamModel: string): Buffer;
}

/** How many images a request asks for, and with what. */
export interface ConvertedImageDemand {
  readonly images: number;
  readonly layers: false;
  readonly sources: number;
  readonly promptBytes: number;
  readonly terms: readonly string[];
  readonly searches: boolean;
}

export interface CheckedImageConversion extends NamingRequest {
  readonly openedImages: OpenedImageConversion;
  readonly demand: ConvertedImageDemand;
}

/** A request that can be converted for any upstream. */
export interface ConvertibleImages extends MeasuredRequest {
  readonly openedImages: Pick<OpenedImageConversion, 'model' | 'refusal' | 'encode'> & {
    /** The request to an upstream of the client's own protocol, unconverted. Null: there is no such upstream. */
    readonly own: {
      readonly protocol: ImageProtocolName;
      bodyFor(upstreamModel: string): Buffer;
    } | null;
    /** Called when the first upstream of another protocol has its turn. @throws GatewayError */
    readonly read: () => ImageRequest | Promise<ImageRequest>;
    /** The request will not be sent again: releases its body. */
    readonly done: () => void;
  };
  readonly model: Model;
  /** In bytes: the memory that is reserved for the response. */
  readonly reservedBytes: number;
}

/** With the routes that can serve it, in the order to try them. */
export interface PreparedImageConversion extends ConvertibleImages {
  readonly routes: readonly Route[];
}
