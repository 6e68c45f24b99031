import type { PictureProtocolName, PictureRequest } from '#canonical/index.ts';
import { decodePictureRequest as decodeChat } from './chat/pictures/decode-request.ts';
import {
  encodePictureResponse as encodeChatResponse,
  encodePictureStream,
  pictureStreamEnd,
} from './chat/pictures/encode-response.ts';
import { decodePictureRequest as decodeContents } from './generate-content/pictures/decode-request.ts';
import {
  decodePictureResponse as decodeContentsResponse,
  findPictures,
} from './generate-content/pictures/decode-response.ts';
import { encodePictureRequest as encodeContents } from './generate-content/pictures/encode-request.ts';
import {
  encodePictureResponse as encodeContentsResponse,
  echoInPictures,
  pictureEvents,
} from './generate-content/pictures/encode-response.ts';
import {
  ownPictureBody,
  ownPictureRequest,
  withImageModality,
} from './generate-content/pictures/modalities.ts';
import {
  ContentsPictureTap,
  isWholeEvent,
  type ContentsStreamContext,
} from './generate-content/pictures/stream-tap.ts';
import { decodePictureRequest as decodeImages } from './images/pictures/decode-request.ts';
import { decodePictureResponse as decodeImagesResponse } from './images/pictures/decode-response.ts';
import {
  encodePictureRequest as encodeImages,
  type EncodedImages,
  type PictureTarget,
} from './images/pictures/encode-request.ts';
import { encodePictureResponse as encodeImagesResponse } from './images/pictures/encode-response.ts';

/**
 * Pictures in the protocols that have them: requests to and from their neutral form, and so the responses. Pictures stay
 * bytes throughout. Chat is a protocol of clients only.
 */
export const pictures = Object.freeze({
  chat: Object.freeze({
    lossNames: { image: 'messages', 'image.url': 'messages', file_id: 'messages' },
    decodeRequest: decodeChat,
    encodeResponse: encodeChatResponse,
    encodeStream: encodePictureStream,
    streamEnd: pictureStreamEnd,
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
    encodeRequest: (request: PictureRequest): EncodedImages => ({
      form: 'generation',
      contentType: 'application/json',
      ...encodeContents(request),
    }),
    decodeResponse: decodeContentsResponse,
    encodeResponse: encodeContentsResponse,
    withImageModality,
    ownRequest: ownPictureRequest,
    ownBody: ownPictureBody,
    echo: echoInPictures,
    findPictures,
    toEvents: pictureEvents,
    isWholeEvent,
    /** One per attempt of a streamed request. */
    createStreamTap: (context: ContentsStreamContext) => new ContentsPictureTap(context),
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

interface PictureClientSide {
  /** Names of losses, where the client has another one. */
  readonly lossNames: Readonly<Record<string, string>>;
}

interface PictureUpstreamSide extends PictureClientSide {
  /** Edits may be forms, with pictures as bytes. */
  readonly takesForms: boolean;
  /** @throws Unconvertible */
  encodeRequest(request: PictureRequest, target: PictureTarget): EncodedImages;
}

/** Protocols in which clients ask for pictures. */
export type PictureClient = 'chat' | PictureProtocolName;

/** By protocol. */
export const pictureSides: Readonly<
  Record<'chat', PictureClientSide> & Record<PictureProtocolName, PictureUpstreamSide>
> = Object.freeze({
  chat: pictures.chat,
  [pictures.contents.protocol]: pictures.contents,
  [pictures.images.protocol]: pictures.images,
});
