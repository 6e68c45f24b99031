import type { Picture, PictureResponse, PictureSource } from '#canonical/index.ts';
import type { ReadPictures } from '#conversion/index.ts';
import type { Unreadable } from './unreadable.ts';

/** A picture whose Base64 is a part of the body: bodies are handed over, not copied. */
export interface PlainPicture extends Omit<Picture, 'source'> {
  readonly source:
    | PictureSource
    | {
        readonly kind: 'range';
        readonly mime: string | null;
        readonly start: number;
        readonly end: number;
      };
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
