import type { ReportedUsage } from './token-usage.ts';

/** A request for images in protocol-neutral form. Null means that the client did not set the member. */
export interface ImageRequest {
  readonly prompt: string;
  /** Images to work from, in their order. */
  readonly sources: readonly ImageSource[];
  /** Which part of the first source may change. */
  readonly mask: ImageSource | null;
  /** How many images. */
  readonly count: number | null;
  readonly shape: ImageShape | null;
  readonly quality: string | null;
  readonly background: string | null;
  /** `png`, `jpeg`, `webp`. */
  readonly format: string | null;
  readonly moderation: string | null;
  /** The client's own names of everything else that it wrote: nothing of it reaches another protocol. */
  readonly others: readonly string[];
}

/**
 * An image of a request or a response. Its bytes may be megabytes: they stay slices of the body in which they came, and
 * never become a string.
 */
export type ImageSource =
  | { readonly kind: 'base64'; readonly mime: string | null; readonly base64: Buffer }
  | { readonly kind: 'bytes'; readonly mime: string; readonly bytes: Buffer }
  | { readonly kind: 'url'; readonly url: string }
  /** A file that one vendor stores. */
  | { readonly kind: 'file-id'; readonly id: string };

/**
 * How large an image is to be: as images write it (`auto`, `1024x1536`, `2K`), or as a ratio of its sides (`16:9`) and a
 * class (`1K`).
 */
export type ImageShape =
  | { readonly kind: 'size'; readonly size: string }
  | {
      readonly kind: 'frame';
      readonly ratio: string | null;
      readonly resolution: string | null;
    };

/** A whole response with images. */
export interface ImageResponse {
  readonly images: readonly Image[];
  readonly usage: ReportedUsage | null;
  /** Something else came with the images, such as a text, and is not carried over. */
  readonly others: readonly string[];
}

export interface Image {
  readonly source: ImageSource;
  /** `<width>x<height>`; null if neither the upstream nor the image itself tells it. */
  readonly size: string | null;
  /** What the model made of the prompt. */
  readonly revisedPrompt: string | null;
}

/**
 * Whether an image model is one of several images or layers, by its capabilities: it draws in layers, or from references
 * without editing. Such models take and give addresses, and never stream.
 */
export function isReferenceModel(capabilities: ReadonlySet<string>): boolean {
  if (capabilities.has('layers')) return true;
  return capabilities.has('multi_reference') && !capabilities.has('edits');
}
