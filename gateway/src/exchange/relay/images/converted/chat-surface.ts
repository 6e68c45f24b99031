import { pictures } from '#protocols/index.ts';
import type { PictureSurface } from './surface.ts';

/** Pictures in a chat: the last message of the user is the prompt, the pictures come as Markdown. */
export const chatSurface: PictureSurface = {
  protocol: 'chat',
  upstreams: ['images', 'generate-content'],
  open({ id, arrivedAt, body }) {
    const { model, request, stream, wantsUsage } = pictures.chat.decodeRequest(body);
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
  },
};

function* framesOf(frames: Iterable<Buffer>): Generator<Buffer> {
  yield* frames;
  yield pictures.chat.streamEnd;
}
