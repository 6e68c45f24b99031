import { pricesVideo, ratesOf } from '#billing/index.ts';
import type { VideoProtocolName } from '#canonical/index.ts';
import type { Model } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { VideoRequest } from '#protocols/index.ts';
import type { ResolvedModel } from '../exchange/find-model.ts';
import type { CheckedVideo } from './prepared.ts';

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
