import { pricesVideo, ratesOf } from '#billing/index.ts';
import { type BodyPool, valueOf } from '#body-work/index.ts';
import type { VideoProtocolName } from '#canonical/index.ts';
import type { Model, Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { VideoProtocol, VideoRequest } from '#protocols/index.ts';
import type { Tasks } from '#tasks/index.ts';
import type { GuardedFetch } from '#upstream/index.ts';
import type { SendingParts } from '../attempts/tries.ts';
import { callOnBody } from '../attempts/in-thread.ts';
import type { ExchangeInput, ExchangeParts } from '../exchange.ts';
import type { CheckedRequest, OpenedRequest, ResolvedModel } from '../operation.ts';

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
    check: (_exchange, resolvedModel) =>
      checkVideo(protocol, resolvedModel, () => valueOf(request)),
  });
  return opening instanceof Promise ? opening.then(checkable) : checkable(opening);
}

/**
 * Reads the request and checks what depends on its model.
 * @throws GatewayError for a model of the other dialect, for everything that `read` refuses, and for a resolution
 * without a price
 */
export function checkVideo(
  protocol: VideoProtocolName,
  resolvedModel: ResolvedModel,
  read: () => VideoRequest,
): CheckedVideo {
  const { name, model } = resolvedModel;
  if (dialectOf(model) !== protocol) {
    throw new GatewayError('model_not_available', { values: { model: name }, param: 'model' });
  }
  const request = read();
  const { resolution } = request.demand;
  if (model.price === null || !pricesVideo(ratesOf(model.price), protocol, resolution)) {
    const reason = `resolution ${resolution} is not available for this model`;
    throw new GatewayError('invalid_value', { param: 'resolution', values: { reason } });
  }
  return { resolvedModel, request };
}

/**
 * Seconds are the unit of one dialect and tokens that of the other, so the price says which of them serves the model.
 */
function dialectOf({ price }: Pick<Model, 'price'>): VideoProtocolName {
  return price?.videoSecond === undefined ? 'video-contents' : 'video-synthesis';
}

export interface CheckedVideo extends CheckedRequest {
  readonly request: VideoRequest;
}

/** A checked request and the routes that can serve it. */
export interface PreparedVideo {
  readonly request: VideoRequest;
  /** In the order to try them. */
  readonly routes: readonly Route[];
}

/** A request for a video. The response names a task; the video comes later. */
export interface VideoInput extends ExchangeInput {
  readonly protocol: VideoProtocolName;
  readonly operation: 'generate';
}

/** What the operation of videos needs. */
export interface VideoParts extends ExchangeParts, SendingParts {
  readonly videos: Readonly<Record<VideoProtocolName, VideoProtocol>>;
  readonly tasks: Pick<Tasks, 'create' | 'accept' | 'refuse'>;
  /** Whether sound at an address is fetched, to check its form and length. */
  readonly checksAudio: boolean;
  readonly fetchMedia: GuardedFetch;
  /** Reads large requests in threads. */
  readonly bodies: BodyPool;
}
