import { imageBound } from '#billing/index.ts';
import type { ImageRequest } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { type Exchange, writeJson } from '../../exchange.ts';
import { namedRoutes } from '../../admission/find-model.ts';
import type { OpenedRequest, Operation, ResolvedModel } from '../../operation.ts';
import { asGatewayError } from '../../ending/finish.ts';
import { authorizeNames } from '../../admission/named-state.ts';
import { requireOffered } from '../../admission/offered-terms.ts';
import type { TickRegistration } from '../../ticker.ts';
import { ConvertedRequests } from './converted-requests.ts';
import type {
  CheckedImageConversion,
  ConvertibleImages,
  OpenedImageConversion,
  OwnImages,
  ImageSurface,
  PreparedImageConversion,
} from './surface.ts';
import type { MeasuredImages } from '../image-response-reader.ts';
import { requirePriced } from '../measure-images.ts';
import { answerStream, answerWhole, type ImageServing } from '../image-plan.ts';
import {
  perImage,
  type ConvertedImageParts,
  prepareShared,
  takesSources,
  unable,
} from '../prepared.ts';
import { createFraming, StreamSink } from '../../stream-sink.ts';
import type { TextInput } from '../../text/input.ts';

/**
 * The number of images that memory is reserved for: upstreams refuse to make more for one request, or make small ones.
 */
const mostImages = 16;

/** Images for a client of a text protocol that names an image model. */
export function createConvertedImageOperation(
  surface: ImageSurface,
): Operation<TextInput, CheckedImageConversion, PreparedImageConversion, ConvertedImageParts> {
  return {
    modelType: 'image',
    isFree: false,
    mayStream: true,
    open(parts, input) {
      const openedImages = surface.open(input, parts);
      return openedImages instanceof Promise
        ? openedImages.then(checkable)
        : checkable(openedImages);
    },
    authorize: authorizeNames<CheckedImageConversion>,
    bound: (_exchange, { demand, resolvedModel }, rates) =>
      imageBound(rates, resolvedModel.model, demand),
    prepare(parts, exchange, checkedImages) {
      const { input } = exchange;
      const { openedImages, demand } = checkedImages;
      const sharedParts = prepareShared(parts, exchange, checkedImages, surface.upstreams);
      // Source images are in memory once more in the request that is sent.
      const convertedBytes = demand.sources > 0 ? 2 * input.body.length : 0;
      const reservedBytes = Math.min(demand.images, mostImages) * perImage;
      const { memory } = input;
      if (memory?.tryResponse(reservedBytes) === false) throw memory.refuse();
      if (memory?.tryMore(convertedBytes) === false) throw memory.refuse();
      return {
        ...sharedParts,
        openedImages: sendable(openedImages, input),
        request: demand,
        reservedBytes,
      };
    },
    answer: (parts, exchange, preparedImages) =>
      answerImages(parts, surface, exchange, preparedImages),
  };
}

/** The request as long as it may be sent. Its body may be megabytes, and its stream may take minutes. */
function sendable(
  { model, refusal, request, own, encode }: OpenedImageConversion,
  { body, memory }: TextInput,
): ConvertibleImages['openedImages'] {
  let sendableBody: { readonly request: ImageRequest; readonly body: Buffer } | null = {
    request,
    body,
  };
  const current = () => {
    if (sendableBody === null) throw new GatewayError('internal_error');
    return sendableBody;
  };
  return {
    model,
    refusal,
    encode,
    own: own === null ? null : ownOf(own, () => current().body),
    read: () => current().request,
    done() {
      sendableBody = null;
      memory?.forgetBody();
    },
  };
}

function checkable(
  openedImages: OpenedImageConversion,
): OpenedRequest<TextInput, CheckedImageConversion> {
  return {
    model: openedImages.model,
    check(exchange, resolvedModel) {
      exchange.stream = openedImages.stream;
      return checkImages(exchange.input, resolvedModel, openedImages);
    },
  };
}

function ownOf(
  { protocol, bodyFor }: OwnImages,
  body: () => Buffer,
): ConvertibleImages['openedImages']['own'] {
  return { protocol, bodyFor: (upstreamModel) => bodyFor(body(), upstreamModel) };
}

/** @throws GatewayError for images that the model cannot work from, and for what has no price. */
function checkImages(
  input: TextInput,
  resolvedModel: ResolvedModel,
  openedImages: OpenedImageConversion,
): CheckedImageConversion {
  const { model, name } = resolvedModel;
  const { request, own, promptBytes } = openedImages;
  const sources = request.sources.length;
  if (own === null && sources > 0 && !takesSources(model)) throw unable(name);
  const { terms = [], searches = false } = own ?? {};
  const images = request.count ?? own?.candidates ?? 1;
  const demand = { images, layers: false, sources, promptBytes, terms, searches } as const;
  const { shape } = request;
  // A class of generate-content is not binding: where models do not have it, a smaller image is asked for.
  requirePriced(resolvedModel, demand, shape?.kind === 'size' ? shape.size : null);
  if (terms.length > 0) requireOffered(terms, model, namedRoutes(input, resolvedModel));
  return {
    resolvedModel,
    openedImages,
    demand,
    namedStates: own?.namedStates,
    names: null,
  };
}

/** As for text: until then an error can still have a status of its own. */
const headHoldMs = 10_000;

/**
 * Answers a request for images in a text protocol.
 * @throws GatewayError when nothing has been written to the client yet.
 */
export function answerImages(
  parts: ConvertedImageParts,
  surface: ImageSurface,
  exchange: Exchange<TextInput>,
  preparedImages: PreparedImageConversion,
): Promise<void> {
  const { input, stream } = exchange;
  const { id, client, framing, protocol: name } = input;
  const protocol = parts.protocols[name];
  const target = { side: surface, streamed: stream ? surface.streamed : undefined };
  const requests = new ConvertedRequests(parts, target, input, preparedImages);
  const serving: ImageServing<MeasuredImages> = {
    model: preparedImages.openedImages.model,
    routes: preparedImages.routes,
    requestsTo: () => requests,
    reservedBytes: preparedImages.reservedBytes,
    members: null,
  };
  if (!stream) {
    return answerWhole(parts, exchange, serving, {
      sink: null,
      write: ({ body }, headers) => writeJson(client, body, headers),
    });
  }
  const sink = new StreamSink(client, protocol, createFraming(framing), parts.clock.monotonic);
  const encodeError = (error: GatewayError) => protocol.encodeStreamError(error, id, null);
  return surface.streamed === undefined
    ? answerAtOnce(parts, exchange, serving, sink, encodeError)
    : answerStream(parts, exchange, serving, sink, encodeError);
}

/**
 * A stream that is sent in one piece: nothing of it may be seen before its row is durable. Until then the connection is
 * kept alive.
 */
async function answerAtOnce(
  parts: ConvertedImageParts,
  exchange: Exchange<TextInput>,
  serving: ImageServing<MeasuredImages>,
  sink: StreamSink,
  encodeError: (error: GatewayError) => string,
): Promise<void> {
  const { input } = exchange;
  const ticks = keepAlive(parts, sink);
  try {
    await answerWhole(parts, exchange, serving, {
      sink,
      write({ body }, headers) {
        ticks.end();
        sink.open(headers);
        input.client.end(body);
      },
      encodeError,
    });
  } catch (error) {
    if (!sink.isOpened) throw error;
    sink.end([encodeError(asGatewayError(parts, input, error))]);
  } finally {
    ticks.end();
  }
}

function keepAlive(
  { ticker, clock, timeouts }: Pick<ConvertedImageParts, 'ticker' | 'clock' | 'timeouts'>,
  sink: StreamSink,
): TickRegistration {
  const openAt = clock.monotonic() + headHoldMs;
  return ticker.add({
    tick(now) {
      if (now >= openAt) sink.open({});
      sink.keepAlive(now, timeouts.keepaliveComment);
    },
    // The attempt under way ends the exchange.
    end: () => {},
  });
}
