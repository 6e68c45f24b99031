import { imageProtocolNames } from '#canonical/index.ts';
import { imageCodecs } from '#protocols/index.ts';
import { callOnBody } from '../../attempts/in-thread.ts';
import type { TextInput } from '../../text/input.ts';
import type { OpenedImages, ImageSurface } from './surface.ts';

/** Images in a chat: the last message of the user is the prompt, the images come as Markdown. */
export const chatSurface: ImageSurface = {
  protocol: 'chat',
  upstreams: imageProtocolNames,
  open(input, parts) {
    const read = callOnBody(parts, input, 'openChatImages', {});
    return read instanceof Promise
      ? read.then((request) => opened(input, request))
      : opened(input, read);
  },
};

function opened({ id, arrivedAt }: TextInput, read: ChatImageRequest): OpenedImages {
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
      if (!stream) return imageCodecs.chat.encodeResponse(response, told);
      return framesOf(imageCodecs.chat.encodeStream(response, told, wantsUsage));
    },
  };
}

type ChatImageRequest = ReturnType<typeof imageCodecs.chat.decodeRequest>;

function* framesOf(frames: Iterable<Buffer>): Generator<Buffer> {
  yield* frames;
  yield imageCodecs.chat.streamEnd;
}
