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
        const frames = pictures.chat.encodeStream(response, told, wantsUsage);
        return Buffer.concat([...frames, pictures.chat.streamEnd]);
      },
    };
  },
};
