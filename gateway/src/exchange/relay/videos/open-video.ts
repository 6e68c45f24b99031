import { errorOf } from '#body-work/index.ts';
import type { VideoRequest } from '#protocols/index.ts';
import { isReadInThread, runOnBody } from '../attempts/in-thread.ts';
import type { OpenedRequest } from '../exchange/operation.ts';
import { checkVideo } from './check-video.ts';
import type { VideoInput } from './input.ts';
import type { VideoParts } from './parts.ts';
import type { CheckedVideo } from './prepared.ts';

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
