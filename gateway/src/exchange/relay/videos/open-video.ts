import { pricesVideo, ratesOf } from '#billing/index.ts';
import { errorOf } from '#body-work/index.ts';
import type { VideoProtocolName } from '#canonical/index.ts';
import type { Model } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { VideoRequest } from '#protocols/index.ts';
import { isReadInThread, runOnBody } from '../attempts/in-thread.ts';
import type { ResolvedModel } from '../exchange/find-model.ts';
import type { OpenedRequest } from '../exchange/operation.ts';
import type { CheckedVideo, VideoInput, VideoParts } from './prepared.ts';

type OpenedVideo = OpenedRequest<VideoInput, CheckedVideo>;
type OpeningParts = Pick<VideoParts, 'bodies' | 'ticker' | 'videos'>;

/**
 * Reads a request up to its model: here, or in a thread if it is large.
 * @throws GatewayError, ClientGone
 */
export function openVideo(
  parts: OpeningParts,
  input: VideoInput,
): OpenedVideo | Promise<OpenedVideo> {
  if (isReadInThread(input.body)) return openLarge(parts, input);
  const { model, read } = parts.videos[input.protocol].open(input.body, input.memory);
  return checkable(input, model, read);
}

async function openLarge(
  { bodies, ticker }: OpeningParts,
  input: VideoInput,
): Promise<OpenedVideo> {
  const { caller, protocol, body } = input;
  const running = bodies.run(caller.keyId, { kind: 'video-read', protocol, body });
  const read = await runOnBody(ticker, input, running);
  return checkable(input, read.model, () => {
    if ('refusal' in read) throw errorOf(read.refusal);
    const { body: bytes, modelAt, ...request } = read;
    // The pool gives bodies back as Buffers.
    const whole = bytes as Buffer;
    return {
      ...request,
      body: { before: whole.subarray(0, modelAt), after: whole.subarray(modelAt) },
    };
  });
}

function checkable({ protocol }: VideoInput, model: string, read: () => VideoRequest): OpenedVideo {
  return {
    model,
    check: (_exchange, resolved) => checkVideo(protocol, resolved, read),
  };
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
