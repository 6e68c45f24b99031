import { type Later, valueOf, type ValueOf } from '#body-work/index.ts';
import { imageProtocolNames, type ImageRequest } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { imageSize } from '#estimation/index.ts';
import { imageCodecs } from '#protocols/index.ts';
import { callOnBody } from '../../attempts/in-thread.ts';
import type { OpenedImageConversion, ImageSurface } from './surface.ts';
import type { TextInput } from '../../text/input.ts';

/** Images in a chat: the last message of the user is the prompt, the images come as Markdown. */
export const chatSurface: ImageSurface = {
  protocol: 'chat',
  upstreams: imageProtocolNames,
  open(input, parts) {
    const read = callOnBody(parts, input, 'openChatImages', {});
    return read instanceof Promise
      ? read.then((request) => openedChat(input, request))
      : openedChat(input, read);
  },
};

function openedChat({ id, arrivedAt }: TextInput, read: ChatImageRequest): OpenedImageConversion {
  const { model, request, stream, wantsUsage } = read;
  const responseContext = { requestId: id, model, createdAt: Math.floor(arrivedAt / 1000) };
  return {
    model,
    stream,
    request,
    refusal: null,
    promptBytes: Buffer.byteLength(request.prompt),
    own: null,
    encode(response) {
      if (!stream) return imageCodecs.chat.encodeResponse(response, responseContext);
      return framesOf(imageCodecs.chat.encodeStream(response, responseContext, wantsUsage));
    },
  };
}

type ChatImageRequest = ReturnType<typeof imageCodecs.chat.decodeRequest>;

function* framesOf(frames: Iterable<Buffer>): Generator<Buffer> {
  yield* frames;
  yield imageCodecs.chat.streamEnd;
}

const { contents } = imageCodecs;

/** Images in generate-content, to upstreams of its own and to those of images. */
export const contentsSurface: ImageSurface = {
  protocol: contents.protocol,
  upstreams: imageProtocolNames.toReversed(),
  streamed: {
    isWholeEvent: contents.isWholeEvent,
    toEvents: contents.toEvents,
    createTap: (echo, accepts) => contents.createStreamTap({ ...echo, accepts, sizeIn }),
  },
  open(input, parts) {
    const read = callOnBody(parts, input, 'openContentsImages', {});
    return read instanceof Promise
      ? read.then((request) => openedContents(input, request))
      : openedContents(input, read);
  },
};

function openedContents(
  { id, body, pathModel, pathStream }: TextInput,
  { own, request: decodedRequest }: ValueOf<'openContentsImages'>,
): OpenedImageConversion {
  const { request, refusal } = unlessRefused(decodedRequest);
  const model = pathModel ?? '';
  const { terms, candidates, searches, namedStates } = own;
  return {
    model,
    stream: pathStream ?? false,
    request,
    refusal,
    promptBytes: body.length - imageBytes(request),
    own: {
      protocol: contents.protocol,
      terms,
      candidates,
      searches,
      namedStates,
      bodyFor: (receivedBody, upstreamModel) => contents.ownBody(receivedBody, own, upstreamModel),
    },
    encode: (response) => contents.encodeResponse(response, { requestId: id, model }),
  };
}

function sizeIn(base64: string): string | null {
  const size = imageSize(base64);
  return size === null ? null : `${size.width}x${size.height}`;
}

/** What cannot be read for another protocol may be right for this one, whose upstream judges it. */
function unlessRefused(
  decodedRequest: Later<ImageRequest>,
): Pick<OpenedImageConversion, 'request' | 'refusal'> {
  try {
    return { request: valueOf(decodedRequest), refusal: null };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.errorName !== 'invalid_value') throw error;
    return { request: unread, refusal: error };
  }
}

const unread: ImageRequest = Object.freeze({
  prompt: '',
  sources: [],
  mask: null,
  count: null,
  shape: null,
  quality: null,
  background: null,
  format: null,
  moderation: null,
  others: [],
});

function imageBytes({ sources }: ImageRequest): number {
  return sources.reduce(
    (sum, source) => sum + (source.kind === 'base64' ? source.base64.length : 0),
    0,
  );
}
