import type { PictureRequest } from '#canonical/index.ts';
import type { ImageRequest, pictures } from '#protocols/index.ts';
import type { PlainError } from './plain-error.ts';
import type { PlainSource } from './plain-source.ts';

type ChatRead = ReturnType<typeof pictures.chat.decodeRequest>;
type Own = ReturnType<(typeof pictures)['contents']['ownRequest']>;

/** A request for pictures whose Base64 is a part of the body. */
export interface PlainPictureRequest extends Omit<PictureRequest, 'sources' | 'mask'> {
  readonly sources: readonly PlainSource[];
  readonly mask: PlainSource | null;
}

/** A chat with an image model. */
export interface PlainChatPictures extends Omit<ChatRead, 'request'> {
  readonly request: PlainPictureRequest;
}

/** A request of generate-content to an image model. */
export interface PlainContentsPictures {
  /** For an upstream of the same protocol. */
  readonly own: Own;
  /** For others, or why they cannot take it. */
  readonly request: PlainPictureRequest | PlainError;
}

/** An edit as a generation. */
export type PlainGeneration = Omit<ImageRequest, 'body'> & { readonly body: Uint8Array };
