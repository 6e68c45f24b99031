import type { Picture, PictureResponse } from '#canonical/index.ts';
import type { ReadPictures } from '#conversion/index.ts';
import type { PlainSource } from './plain-source.ts';
import type { Unreadable } from './unreadable.ts';

/** A picture whose Base64 is a part of the body: bodies are handed over, not copied. */
export interface PlainPicture extends Omit<Picture, 'source'> {
  readonly source: PlainSource;
}

/** What a thread found in a response with pictures. */
export type PicturesResult =
  | (Omit<ReadPictures, 'found'> & {
      readonly kind: 'pictures';
      readonly found: Omit<PictureResponse, 'pictures'> & {
        readonly pictures: readonly PlainPicture[];
      };
    })
  | Unreadable;
