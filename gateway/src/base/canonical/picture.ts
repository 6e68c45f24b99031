import type { ReportedUsage } from './token-usage.ts';

/** A request for pictures in protocol-neutral form. Null means that the client did not set the member. */
export interface PictureRequest {
  readonly prompt: string;
  /** Pictures to work from, in their order. */
  readonly sources: readonly PictureSource[];
  /** Which part of the first source may change. */
  readonly mask: PictureSource | null;
  /** How many pictures. */
  readonly count: number | null;
  readonly shape: PictureShape | null;
  readonly quality: string | null;
  readonly background: string | null;
  /** `png`, `jpeg`, `webp`. */
  readonly format: string | null;
  readonly moderation: string | null;
  /** The client's own names of everything else that it wrote: nothing of it reaches another protocol. */
  readonly others: readonly string[];
}

/**
 * A picture of a request or a response. Its bytes may be megabytes: they stay slices of the body in which they came, and
 * never become a string.
 */
export type PictureSource =
  | { readonly kind: 'base64'; readonly mime: string | null; readonly base64: Buffer }
  | { readonly kind: 'bytes'; readonly mime: string; readonly bytes: Buffer }
  | { readonly kind: 'url'; readonly url: string }
  /** A file that one vendor stores. */
  | { readonly kind: 'file-id'; readonly id: string };

/**
 * How large a picture is to be: as images write it (`auto`, `1024x1536`, `2K`), or as a ratio of its sides (`16:9`) and a
 * class (`1K`).
 */
export type PictureShape =
  | { readonly kind: 'size'; readonly size: string }
  | {
      readonly kind: 'frame';
      readonly ratio: string | null;
      readonly resolution: string | null;
    };

/** A whole response with pictures. */
export interface PictureResponse {
  readonly pictures: readonly Picture[];
  readonly usage: ReportedUsage | null;
  /** Something else came with the pictures, such as a text, and is not carried over. */
  readonly others: readonly string[];
}

export interface Picture {
  readonly source: PictureSource;
  /** `<width>x<height>`; null if neither the upstream nor the picture itself tells it. */
  readonly size: string | null;
  /** What the model made of the prompt. */
  readonly revisedPrompt: string | null;
}
