import { imageBound } from '#billing/index.ts';
import { imageProtocolNames } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import { images, imageCodecs } from '#protocols/index.ts';
import type { ExchangePlan } from '../answer.ts';
import { type ClientResponse, writeJson } from '../exchange.ts';
import type { Operation } from '../operation.ts';
import type { SentRequest } from '../ending/record.ts';
import { authorizeNames } from '../admission/named-state.ts';
import { createFraming, StreamSink } from '../stream-sink.ts';
import { ConvertedRequests } from './converted/converted-requests.ts';
import type { ConvertibleImages, ImageSide, StreamedImages } from './converted/surface.ts';
import type { MeasuredImages } from './image-response-reader.ts';
import { callWithImages, NativeRequests, releaseUpload } from './native-requests.ts';
import { openImages } from './open-images.ts';
import { answerStream, answerWhole, type ImageServing } from './image-plan.ts';
import {
  type CheckedImages,
  type ImageInput,
  perImage,
  type ConvertedImageParts,
  type PreparedImages,
  prepareShared,
} from './prepared.ts';
import type { StoredImages } from './spooled-response.ts';

/** Bytes that are reserved in the spool for each image, so that none is paid for and then lost. */
const perStored = 16 * 1024 * 1024;

/** Layers are not converted. */
const layeredUpstreams: ImageSide['upstreams'] = ['images'];

/** Makes and edits images. */
export const imageOperation: Operation<
  ImageInput,
  CheckedImages,
  PreparedImages,
  ConvertedImageParts
> = {
  modelType: 'image',
  isFree: false,
  mayStream: true,
  open: openImages,
  authorize: authorizeNames<CheckedImages>,
  bound: (_exchange, { request, resolvedModel }, rates) =>
    imageBound(rates, resolvedModel.model, request),
  prepare(parts, exchange, checkedImages) {
    const { input } = exchange;
    const { request } = checkedImages;
    const upstreams = request.layers ? layeredUpstreams : side.upstreams;
    const sharedParts = prepareShared(parts, exchange, checkedImages, upstreams);
    const isConverted = sharedParts.routes.some((route) => !isNative(route));
    const isKept = request.stream || isConverted;
    // Source images are in memory once more in the request that is sent. Those of a stored body have no memory yet.
    const { body } = request;
    const convertedBytes =
      isConverted && request.sources > 0 && Buffer.isBuffer(body) ? body.length : 0;
    const reservedBytes = isKept ? request.images * perImage + convertedBytes : 0;
    if (isKept && input.memory?.tryResponse(reservedBytes) === false) throw input.memory.refuse();
    const storedBytes = request.stream ? 0 : request.images * perStored;
    const { keyId } = input.caller;
    const space = parts.spool.reserve(storedBytes, { keyId, of: 'response' });
    if (space === null) throw new GatewayError('overloaded', { retryAfter: 1 });
    return { ...sharedParts, request, reservedBytes, space };
  },
  async answer(parts, exchange, preparedImages) {
    const { input } = exchange;
    const serving = servingOf(parts, input, preparedImages);
    try {
      if (preparedImages.request.stream) {
        const framing = createFraming('event-stream');
        const sink = new StreamSink(input.client, images, framing, parts.clock.monotonic);
        // Without `[DONE]`, which would mean success.
        await answerStream(parts, exchange, serving, sink, images.encodeStreamError);
      } else {
        const write: Writer = (response, headers) => writeImages(input.client, response, headers);
        await answerWhole(parts, exchange, serving, { sink: null, write });
      }
    } finally {
      preparedImages.space.release();
    }
  },
};

type WholeImages = StoredImages | MeasuredImages;
type Writer = ExchangePlan<SentRequest, WholeImages, never>['write'];

function writeImages(
  client: ClientResponse,
  response: WholeImages,
  headers: Readonly<Record<string, string>>,
): void | Promise<void> {
  // A converted response is in memory anyway.
  if ('body' in response) return writeJson(client, response.body, headers);
  client.start(200, {
    'content-type': 'application/json',
    'content-length': String(response.length),
    ...headers,
  });
  return response.writeTo(client);
}

const side: ImageSide = { protocol: 'images', upstreams: imageProtocolNames };

/** The channel takes the request as it is. */
function isNative({ channel }: Route): boolean {
  return channel.protocols.includes('images');
}

/** The request goes unchanged to upstreams that speak its protocol, and converted to the others. */
function servingOf(
  parts: ConvertedImageParts,
  input: ImageInput,
  preparedImages: PreparedImages,
): ImageServing<WholeImages> {
  const { request, routes, reservedBytes } = preparedImages;
  const native = new NativeRequests(parts, input, preparedImages);
  const target = { side, streamed: request.stream ? streamedTo(input) : undefined };
  const convertedBytes = new ConvertedRequests(
    parts,
    target,
    input,
    convertible(parts, preparedImages, input),
  );
  return {
    model: request.model,
    routes,
    requestsTo: (route) => (isNative(route) ? native : convertedBytes),
    reservedBytes,
    members: request.members,
  };
}

/** The request, for upstreams of other protocols. */
function convertible(
  parts: ConvertedImageParts,
  { request, model, rates, surcharges, reservedBytes }: PreparedImages,
  input: ImageInput,
): ConvertibleImages {
  const { arrivedAt } = input;
  const openedImages: ConvertibleImages['openedImages'] = {
    model: request.model,
    read: () => callWithImages(parts, input, 'decodeImages', request),
    done: () => releaseUpload(input),
    refusal: null,
    own: null,
    encode: (response) =>
      imageCodecs.images.encodeResponse(response, { createdAt: Math.floor(arrivedAt / 1000) }),
  };
  return { openedImages, request, model, rates, surcharges, reservedBytes };
}

function streamedTo({ form, headers }: ImageInput): StreamedImages {
  const names = images.eventNamesFor(form, headers);
  return {
    isWholeEvent: images.isWholeEvent,
    toEvents: images.toEvents,
    createTap: (echo, accepts) => images.createStreamTap({ ...echo, names, accepts }),
  };
}
