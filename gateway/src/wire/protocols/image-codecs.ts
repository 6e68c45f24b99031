import type { ImageProtocolName, ImageRequest } from '#canonical/index.ts';
import { decodeImageRequest as decodeChat } from './chat/images/decode-request.ts';
import {
  encodeImageResponse as encodeChatResponse,
  encodeImageStream,
  imageStreamEnd,
} from './chat/images/encode-response.ts';
import { decodeImageRequest as decodeContents } from './generate-content/images/decode-request.ts';
import {
  decodeImageResponse as decodeContentsResponse,
  findImages,
} from './generate-content/images/decode-response.ts';
import { encodeImageRequest as encodeContents } from './generate-content/images/encode-request.ts';
import {
  encodeImageResponse as encodeContentsResponse,
  echoInImages,
  imageEvents,
} from './generate-content/images/encode-response.ts';
import {
  ownImageBody,
  ownImageRequest,
  withImageModality,
} from './generate-content/images/modalities.ts';
import {
  ContentsImageTap,
  isWholeEvent,
  type ContentsStreamContext,
} from './generate-content/images/stream-tap.ts';
import { decodeImageRequest as decodeImages } from './images/canonical/decode-request.ts';
import { decodeImageResponse as decodeImagesResponse } from './images/canonical/decode-response.ts';
import {
  encodeImageRequest as encodeImages,
  type EncodedImages,
  type ImageTarget,
} from './images/canonical/encode-request.ts';
import { encodeImageResponse as encodeImagesResponse } from './images/canonical/encode-response.ts';

/**
 * Images in the protocols that have them: requests to and from their neutral form, and so the responses. Images stay
 * bytes throughout. Chat is a protocol of clients only.
 */
export const imageCodecs = Object.freeze({
  chat: Object.freeze({
    lossNames: { image: 'messages', 'image.url': 'messages', file_id: 'messages' },
    decodeRequest: decodeChat,
    encodeResponse: encodeChatResponse,
    encodeStream: encodeImageStream,
    streamEnd: imageStreamEnd,
  }),
  contents: Object.freeze({
    protocol: 'generate-content',
    takesForms: false,
    lossNames: {
      size: 'generationConfig.imageConfig',
      image: 'contents',
      'image.url': 'contents',
      file_id: 'contents',
    },
    decodeRequest: decodeContents,
    encodeRequest: (request: ImageRequest): EncodedImages => ({
      form: 'generation',
      contentType: 'application/json',
      ...encodeContents(request),
    }),
    decodeResponse: decodeContentsResponse,
    encodeResponse: encodeContentsResponse,
    withImageModality,
    ownRequest: ownImageRequest,
    ownBody: ownImageBody,
    echo: echoInImages,
    findImages,
    toEvents: imageEvents,
    isWholeEvent,
    /** One per attempt of a streamed request. */
    createStreamTap: (context: ContentsStreamContext) => new ContentsImageTap(context),
  }),
  images: Object.freeze({
    protocol: 'images',
    takesForms: true,
    lossNames: { 'image.url': 'image', file_id: 'image' },
    decodeRequest: decodeImages,
    encodeRequest: encodeImages,
    decodeResponse: decodeImagesResponse,
    encodeResponse: encodeImagesResponse,
  }),
});

interface ImageClientSide {
  /** Names of losses, where the client has another one. */
  readonly lossNames: Readonly<Record<string, string>>;
}

interface ImageUpstreamSide extends ImageClientSide {
  /** Edits may be forms, with images as bytes. */
  readonly takesForms: boolean;
  /** @throws Unconvertible */
  encodeRequest(request: ImageRequest, target: ImageTarget): EncodedImages;
}

/** Protocols in which clients ask for images. */
export type ImageClient = 'chat' | ImageProtocolName;

/** By protocol. */
export const imageSides: Readonly<
  Record<'chat', ImageClientSide> & Record<ImageProtocolName, ImageUpstreamSide>
> = Object.freeze({
  chat: imageCodecs.chat,
  [imageCodecs.contents.protocol]: imageCodecs.contents,
  [imageCodecs.images.protocol]: imageCodecs.images,
});
