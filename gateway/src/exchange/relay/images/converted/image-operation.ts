import { imageBound, ratesOf } from '#billing/index.ts';
import type { ImageRequest } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { findCandidates } from '#routing/index.ts';
import { namedRoutes, type ResolvedModel, routeQueryOf } from '../../exchange/find-model.ts';
import { requireOffered, surchargesOfAny } from '../../exchange/offered-terms.ts';
import type { OpenedRequest, Operation } from '../../exchange/operation.ts';
import { authorizeNames, withoutRefusing } from '../../exchange/state/authorize-names.ts';
import type { TextInput } from '../../text/input.ts';
import { requirePriced } from '../measure-images.ts';
import { perImage, type ConvertedImageParts, takesSources, unable } from '../prepared.ts';
import { answerImages } from './answer-images.ts';
import type {
  CheckedImages,
  ConvertibleImages,
  OpenedImages,
  OwnImages,
  ImageSurface,
  PreparedImages,
} from './surface.ts';

/** Memory is reserved for so many images: upstreams refuse to make more for one request, or make small ones. */
const mostImages = 16;

/** Images for a client of a text protocol that names an image model. */
export function createConvertedImageOperation(
  parts: ConvertedImageParts,
  surface: ImageSurface,
): Operation<TextInput, CheckedImages, PreparedImages> {
  return {
    modelType: 'image',
    isFree: false,
    mayStream: true,
    open(input) {
      const opened = surface.open(input, parts);
      return opened instanceof Promise ? opened.then(checkable) : checkable(opened);
    },
    authorize: ({ input }, checked) =>
      authorizeNames(parts, input, checked, checked.opened.own?.named),
    bound: (_exchange, { demand, resolved }, rates) => imageBound(rates, resolved.model, demand),
    prepare({ input, hold }, { opened, demand, resolved, names }) {
      const { model, snapshot } = resolved;
      const query = { ...routeQueryOf(input, resolved), upstreams: surface.upstreams };
      const routes = withoutRefusing(findCandidates(snapshot, query, parts.random), names);
      // Source images are in memory once more in the request that is sent.
      const converted = demand.sources > 0 ? 2 * input.body.length : 0;
      const reserved = Math.min(demand.images, mostImages) * perImage;
      const { memory } = input;
      if (memory?.tryResponse(reserved) === false) throw memory.refuse();
      if (memory?.tryMore(converted) === false) throw memory.refuse();
      const rates = hold === null || model.price === null ? null : ratesOf(model.price);
      return {
        opened: sendable(opened, input),
        request: demand,
        model,
        rates,
        surcharges: surchargesOfAny(routes),
        routes,
        reserved,
      };
    },
    answer: (exchange, prepared) => answerImages(parts, surface, exchange, prepared),
  };
}

/** The request as long as it may be sent. Its body may be megabytes, and its stream may take minutes. */
function sendable(
  { model, refusal, request, own, encode }: OpenedImages,
  { body, memory }: TextInput,
): ConvertibleImages['opened'] {
  let kept: { readonly request: ImageRequest; readonly body: Buffer } | null = { request, body };
  const current = () => {
    if (kept === null) throw new GatewayError('internal_error');
    return kept;
  };
  return {
    model,
    refusal,
    encode,
    own: own === null ? null : ownOf(own, () => current().body),
    read: () => current().request,
    done() {
      kept = null;
      memory?.forgetBody();
    },
  };
}

function checkable(opened: OpenedImages): OpenedRequest<TextInput, CheckedImages> {
  return {
    model: opened.model,
    check(exchange, resolved) {
      exchange.stream = opened.stream;
      return checkImages(exchange.input, resolved, opened);
    },
  };
}

function ownOf(
  { protocol, bodyFor }: OwnImages,
  body: () => Buffer,
): ConvertibleImages['opened']['own'] {
  return { protocol, bodyFor: (upstreamModel) => bodyFor(body(), upstreamModel) };
}

/** @throws GatewayError for images that the model cannot work from, and for what has no price. */
function checkImages(
  input: TextInput,
  resolved: ResolvedModel,
  opened: OpenedImages,
): CheckedImages {
  const { model, name } = resolved;
  const { request, own, promptBytes } = opened;
  const sources = request.sources.length;
  if (own === null && sources > 0 && !takesSources(model)) throw unable(name);
  const { terms = [], searches = false } = own ?? {};
  const images = request.count ?? own?.candidates ?? 1;
  const demand = { images, layers: false, sources, promptBytes, terms, searches } as const;
  const { shape } = request;
  // A class of generate-content is not binding: where models do not have it, a smaller image is asked for.
  requirePriced(resolved, demand, shape?.kind === 'size' ? shape.size : null);
  if (terms.length > 0) requireOffered(terms, model, namedRoutes(input, resolved));
  return { resolved, opened, demand, names: null };
}
