import type { UploadedBody } from '#bodies/index.ts';
import type { ImagePieceReader } from '#protocols/index.ts';
import type { ExchangeInput } from '../exchange/input.ts';

/** The body of a request: small ones are in one buffer. */
export type ImageBody = Buffer | ImageUpload;

export type ImageUpload = UploadedBody<ImagePieceReader>;

/** A request for pictures, in the protocol that has them. */
export interface ImageInput extends ExchangeInput {
  readonly protocol: 'images';
  readonly operation: 'generate';
  /** Which endpoint: new pictures, or edits of existing ones. */
  readonly form: 'generation' | 'edit';
  /** A large body, which was read as it arrived; `body` is empty then. */
  readonly upload?: ImageUpload;
}
