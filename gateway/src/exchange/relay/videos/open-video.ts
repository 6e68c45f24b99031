import { pricesVideo, ratesOf } from '#billing/index.ts';
import { valueOf } from '#body-work/index.ts';
import type { VideoProtocolName } from '#canonical/index.ts';
import type { Model } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { VideoRequest } from '#protocols/index.ts';
import { callOnBody } from '../attempts/in-thread.ts';
import type { ResolvedModel } from '../exchange/find-model.ts';
import type { OpenedRequest } from '../exchange/operation.ts';
import type { CheckedVideo, VideoInput, VideoParts } from './prepared.ts';

type OpenedVideo = OpenedRequest<VideoInput, CheckedVideo>;

/** Reads a request up to its model. @throws GatewayError, ClientGone */
export function openVideo(
  parts: Pick<VideoParts, 'bodies' | 'ticker'>,
  input: VideoInput,
): OpenedVideo | Promise<OpenedVideo> {
  const { protocol } = input;
  const opening = callOnBody(parts, input, 'openVideo', { protocol });
  const checkable = ({ model, request }: Awaited<typeof opening>): OpenedVideo => ({
    model,
    check: (_exchange, resolved) => checkVideo(protocol, resolved, () => valueOf(request)),
  });
  return opening instanceof Promise ? opening.then(checkable) : checkable(opening);
}

/**
 * Reads the request and checks what depends on its model.
 * @throws GatewayError for a model of the other dialect, for whatever `read` refuses, and for a resolution without a price
 */
export function checkVideo(
  protocol: VideoProtocolName,
  resolved: ResolvedModel,
  read: () => VideoRequest,
): CheckedVideo {
  const { name, model } = resolved;
  if (dialectOf(model) !== protocol) {
    throw new GatewayError('model_not_available', { values: { model: name }, param: 'model' });
  }
  const request = read();
  const { resolution } = request.demand;
  if (model.price === null || !pricesVideo(ratesOf(model.price), protocol, resolution)) {
    const reason = `resolution ${resolution} is not available for this model`;
    throw new GatewayError('invalid_value', { param: 'resolution', values: { reason } });
  }
  return { resolved, request };
}

/** Seconds are the unit of one dialect and tokens that of the other, so the price says which of them serves the model. */
function dialectOf({ price }: Pick<Model, 'price'>): VideoProtocolName {
  return price?.videoSecond === undefined ? 'video-contents' : 'video-synthesis';
}
