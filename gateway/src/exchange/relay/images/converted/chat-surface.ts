import { pictureProtocolNames } from '#canonical/index.ts';
import { pictures } from '#protocols/index.ts';
import { callOnBody } from '../../attempts/in-thread.ts';
import type { TextInput } from '../../text/input.ts';
import type { OpenedPictures, PictureSurface } from './surface.ts';

/** Pictures in a chat: the last message of the user is the prompt, the pictures come as Markdown. */
export const chatSurface: PictureSurface = {
  protocol: 'chat',
  upstreams: pictureProtocolNames,
  open(input, parts) {
    const read = callOnBody(parts, input, 'openChatPictures', {});
    return read instanceof Promise
      ? read.then((request) => opened(input, request))
      : opened(input, read);
  },
};

function opened({ id, arrivedAt }: TextInput, read: ChatPictureRequest): OpenedPictures {
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
