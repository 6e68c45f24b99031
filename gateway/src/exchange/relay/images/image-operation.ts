import { imageBound, ratesOf } from '#billing/index.ts';
import { findCandidates } from '#routing/index.ts';
import type { Operation } from '../exchange/operation.ts';
import { routeQueryOf } from '../exchange/route-query.ts';
import { answerImageStream } from './answer-image-stream.ts';
import { answerImages } from './answer-images.ts';
import type { ImageInput } from './input.ts';
import { openImages } from './open-images.ts';
import { upstreamsOf } from './converted/mixed-sender.ts';
import type { PictureParts } from './converted/parts.ts';
import { perPicture, type CheckedImages, type PreparedImages } from './prepared.ts';

/** Makes and edits pictures. */
export function createImageOperation(
  parts: PictureParts,
): Operation<ImageInput, CheckedImages, PreparedImages> {
  return {
    modelType: 'image',
    isFree: false,
    mayStream: true,
    open: (input) => openImages(parts, input),
    bound: (_exchange, { request, resolved }, rates) => imageBound(rates, resolved.model, request),
    prepare({ input, hold }, { request, resolved }) {
      const query = { ...routeQueryOf(input, resolved), upstreams: upstreamsOf(request) };
      const routes = findCandidates(resolved.snapshot, query, parts.random);
      const { model } = resolved;
      const reserved = request.images * perPicture;
      if (input.memory?.tryResponse(reserved) === false) throw input.memory.refuse();
      const rates = hold === null || model.price === null ? null : ratesOf(model.price);
      return { request, model, rates, routes, reserved };
    },
    answer: (exchange, prepared) =>
      prepared.request.stream
        ? answerImageStream(parts, exchange, prepared)
        : answerImages(parts, exchange, prepared),
  };
}
