import type { PictureCall } from '#canonical/index.ts';
import { pictureTool } from '#protocols/index.ts';
import type { PictureSurface } from '../converted/surface.ts';

/** A call of the picture tool, whose response is the item of the picture. */
export function toolSurface({ id, arguments: text, defaults }: PictureCall): PictureSurface {
  return {
    protocol: 'images',
    upstreams: ['images', 'generate-content'],
    open({ pathModel }) {
      const request = pictureTool.readCall(text, defaults);
      return {
        model: pathModel ?? '',
        stream: false,
        request,
        refusal: null,
        promptBytes: Buffer.byteLength(request.prompt),
        own: null,
        encode: (response) => pictureTool.encodeItem(id, request, response),
      };
    },
  };
}
