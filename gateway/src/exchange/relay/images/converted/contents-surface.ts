import type { PictureRequest } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { imageSize } from '#estimation/index.ts';
import { pictures } from '#protocols/index.ts';
import type { PictureSurface } from './surface.ts';

const contents = pictures['generate-content'];

/** Pictures in generate-content, to upstreams of its own and to those of images. */
export const contentsSurface: PictureSurface = {
  protocol: 'generate-content',
  upstreams: ['generate-content', 'images'],
  streamed: {
    isWholeEvent: contents.isWholeEvent,
    toEvents: contents.toEvents,
    createTap: (echo, accepts) => contents.createStreamTap({ ...echo, accepts, sizeIn }),
  },
  open({ id, body, pathModel, pathStream }) {
    const model = pathModel ?? '';
    const stream = pathStream ?? false;
    const { terms, candidates, searches } = contents.ownRequest(body);
    const { request, refusal } = decode(body);
    return {
      model,
      stream,
      request,
      refusal,
      promptBytes: body.length - pictureBytes(request),
      own: {
        protocol: 'generate-content',
        terms,
        candidates,
        searches,
        bodyFor: (received, upstreamModel) =>
          contents.ownBody(contents.withImageModality(received), upstreamModel),
      },
      encode: (response) => contents.encodeResponse(response, { requestId: id, model }),
    };
  },
};

function sizeIn(base64: string): string | null {
  const size = imageSize(base64);
  return size === null ? null : `${size.width}x${size.height}`;
}

interface Decoded {
  readonly request: PictureRequest;
  readonly refusal: GatewayError | null;
}

/** What cannot be read for another protocol may be right for this one, whose upstream judges it. */
function decode(body: Buffer): Decoded {
  try {
    return { request: contents.decodeRequest(body), refusal: null };
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
