import { imageBound, ratesOf } from '#billing/index.ts';
import { GatewayError } from '#errors/index.ts';
import { findCandidates } from '#routing/index.ts';
import { surchargesOfAny } from '../exchange/offered-terms.ts';
import type { Operation } from '../exchange/operation.ts';
import { routeQueryOf } from '../exchange/route-query.ts';
import { authorizeNames, withoutRefusing } from '../exchange/state/authorize-names.ts';
import { answerImageStream } from './answer-image-stream.ts';
import { answerImages } from './answer-images.ts';
import type { ImageInput } from './input.ts';
import { openImages } from './open-images.ts';
import { isNative, upstreamsOf } from './converted/mixed-sender.ts';
import type { PictureParts } from './converted/parts.ts';
import { perPicture, type CheckedImages, type PreparedImages } from './prepared.ts';

/** Bytes that are reserved in the spool for each picture, so that none is paid for and then lost. */
const perStored = 16 * 1024 * 1024;

/** Makes and edits pictures. */
export function createImageOperation(
  parts: PictureParts,
): Operation<ImageInput, CheckedImages, PreparedImages> {
  return {
    modelType: 'image',
    isFree: false,
    mayStream: true,
    open: (input) => openImages(parts, input),
    authorize: ({ input }, checked) => authorizeNames(parts, input, checked, checked.request.named),
    bound: (_exchange, { request, resolved }, rates) => imageBound(rates, resolved.model, request),
    prepare({ input, hold }, { request, resolved, names }) {
      const query = { ...routeQueryOf(input, resolved), upstreams: upstreamsOf(request) };
      const found = findCandidates(resolved.snapshot, query, parts.random);
      const routes = withoutRefusing(found, names);
      const { model } = resolved;
      const rates = hold === null || model.price === null ? null : ratesOf(model.price);
      const isConverted = routes.some((route) => !isNative(route));
      const isKept = request.stream || isConverted;
      // Source pictures are in memory once more in the request that is sent. Those of a stored body have no memory yet.
      const { body } = request;
      const converted =
        isConverted && request.sources > 0 && Buffer.isBuffer(body) ? body.length : 0;
      const reserved = isKept ? request.images * perPicture + converted : 0;
      if (isKept && input.memory?.tryResponse(reserved) === false) throw input.memory.refuse();
      const stored = request.stream ? 0 : request.images * perStored;
      const { keyId } = input.caller;
      const space = parts.spool.reserve(stored, { keyId, of: 'response' });
      if (space === null) throw new GatewayError('overloaded', { retryAfter: 1 });
      const surcharges = surchargesOfAny(routes);
      return { request, model, rates, surcharges, routes, reserved, space };
    },
    async answer(exchange, prepared) {
      const answer = prepared.request.stream ? answerImageStream : answerImages;
      try {
        await answer(parts, exchange, prepared);
      } finally {
        prepared.space.release();
      }
    },
  };
}
