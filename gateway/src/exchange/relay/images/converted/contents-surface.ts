import { errorOf, isPlainError, pictureRequestOf } from '#body-work/index.ts';
import { pictureProtocolNames, type PictureRequest } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { imageSize } from '#estimation/index.ts';
import { pictures } from '#protocols/index.ts';
import { isReadInThread, runOnBody } from '../../attempts/in-thread.ts';
import type { TextInput } from '../../text/input.ts';
import type { OpenedPictures, PictureSurface } from './surface.ts';

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
    const { body } = input;
    if (!isReadInThread(body)) return opened(input, contents.ownRequest(body), decode(body));
    const { bodies, ticker } = parts;
    const running = bodies.run(input.caller.keyId, { kind: 'contents-pictures', body });
    return runOnBody(ticker, input, running).then(({ own, request }) =>
      opened(input, withBuffers(own), decodedOf(request, input.body)),
    );
  },
};

function opened(
  { id, body, pathModel, pathStream }: TextInput,
  own: Own,
  { request, refusal }: Decoded,
): OpenedPictures {
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

type Own = ReturnType<typeof contents.ownRequest>;

/** Buffers arrive from a thread as plain bytes. */
function withBuffers(own: Own): Own {
  return { ...own, edits: own.edits.map((edit) => ({ ...edit, bytes: Buffer.from(edit.bytes) })) };
}

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
    return unreadBecause(error);
  }
}

/** The same of a thread's result. */
function decodedOf(request: PlainRequest, body: Buffer): Decoded {
  if (isPlainError(request)) return unreadBecause(errorOf(request));
  return { request: pictureRequestOf(request, body), refusal: null };
}

type PlainRequest = Parameters<typeof pictureRequestOf>[0] | Parameters<typeof errorOf>[0];

function unreadBecause(error: unknown): Decoded {
  if (!(error instanceof GatewayError) || error.errorName !== 'invalid_value') throw error;
  return { request: unread, refusal: error };
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
