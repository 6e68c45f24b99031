import { type Later, valueOf, type ValueOf } from '#body-work/index.ts';
import { pictureProtocolNames, type PictureRequest } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { imageSize } from '#estimation/index.ts';
import { pictures } from '#protocols/index.ts';
import { callOnBody } from '../../attempts/in-thread.ts';
import type { OpenedPictures, PictureSurface } from './surface.ts';
import type { TextInput } from '../../text/input.ts';

/** Pictures in a chat: the last message of the user is the prompt, the pictures come as Markdown. */
export const chatSurface: PictureSurface = {
  protocol: 'chat',
  upstreams: pictureProtocolNames,
  open(input, parts) {
    const read = callOnBody(parts, input, 'openChatPictures', {});
    return read instanceof Promise
      ? read.then((request) => openedChat(input, request))
      : openedChat(input, read);
  },
};

function openedChat({ id, arrivedAt }: TextInput, read: ChatPictureRequest): OpenedPictures {
  const { model, request, stream, wantsUsage } = read;
  const told = { requestId: id, model, createdAt: Math.floor(arrivedAt / 1000) };
  return {
    model,
    stream,
    request,
    refusal: null,
    promptBytes: Buffer.byteLength(request.prompt),
    own: null,
    encode(response) {
      if (!stream) return pictures.chat.encodeResponse(response, told);
      return framesOf(pictures.chat.encodeStream(response, told, wantsUsage));
    },
  };
}

type ChatPictureRequest = ReturnType<typeof pictures.chat.decodeRequest>;

function* framesOf(frames: Iterable<Buffer>): Generator<Buffer> {
  yield* frames;
  yield pictures.chat.streamEnd;
}

const { contents } = pictures;

/** Pictures in generate-content, to upstreams of its own and to those of images. */
export const contentsSurface: PictureSurface = {
  protocol: contents.protocol,
  upstreams: pictureProtocolNames.toReversed(),
  streamed: {
    isWholeEvent: contents.isWholeEvent,
    toEvents: contents.toEvents,
    createTap: (echo, accepts) => contents.createStreamTap({ ...echo, accepts, sizeIn }),
  },
  open(input, parts) {
    const read = callOnBody(parts, input, 'openContentsPictures', {});
    return read instanceof Promise
      ? read.then((request) => openedContents(input, request))
      : openedContents(input, read);
  },
};

function openedContents(
  { id, body, pathModel, pathStream }: TextInput,
  { own, request: decoded }: ValueOf<'openContentsPictures'>,
): OpenedPictures {
  const { request, refusal } = unlessRefused(decoded);
  const model = pathModel ?? '';
  const { terms, candidates, searches, named } = own;
  return {
    model,
    stream: pathStream ?? false,
    request,
    refusal,
    promptBytes: body.length - pictureBytes(request),
    own: {
      protocol: contents.protocol,
      terms,
      candidates,
      searches,
      named,
      bodyFor: (received, upstreamModel) => contents.ownBody(received, own, upstreamModel),
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
  decoded: Later<PictureRequest>,
): Pick<OpenedPictures, 'request' | 'refusal'> {
  try {
    return { request: valueOf(decoded), refusal: null };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.errorName !== 'invalid_value') throw error;
    return { request: unread, refusal: error };
  }
}

const unread: PictureRequest = Object.freeze({
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

function pictureBytes({ sources }: PictureRequest): number {
  return sources.reduce(
    (sum, source) => sum + (source.kind === 'base64' ? source.base64.length : 0),
    0,
  );
}
