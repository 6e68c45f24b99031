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
import { encodePictureRequest as encodeImages } from './images/pictures/encode-request.ts';
import { encodePictureResponse as encodeImagesResponse } from './images/pictures/encode-response.ts';

/**
 * Pictures in the protocols that have them: requests to and from their neutral form, and so the responses. Pictures stay
 * bytes throughout. Chat is a protocol of clients only.
 */
export const pictures = Object.freeze({
  chat: Object.freeze({
    decodeRequest: decodeChat,
    encodeResponse: encodeChatResponse,
    encodeStream: encodePictureStream,
    streamEnd: pictureStreamEnd,
  }),
  'generate-content': Object.freeze({
    decodeRequest: decodeContents,
    encodeRequest: encodeContents,
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
    decodeRequest: decodeImages,
    encodeRequest: encodeImages,
    decodeResponse: decodeImagesResponse,
    encodeResponse: encodeImagesResponse,
  }),
});
