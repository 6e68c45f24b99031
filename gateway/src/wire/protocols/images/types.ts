import type { ReportedUsage } from '#canonical/index.ts';
import type { Range } from '#json/index.ts';
import type { ImageEntry } from '../shared/images/image-stream.ts';
import type { NamedState } from '../shared/state/named-state.ts';
import type { JsonRecord } from '../shared/values.ts';
import type { ImageType } from './image-type.ts';

export type { ImageEntry };

/** A file of a form. */
export interface ImageFile {
  /** `image`, also for `image[]` and `image[0]`. */
  readonly field: 'image' | 'mask';
  /** As the form names it. */
  readonly name: string;
  /** The form says that it is a file, not a text. */
  readonly isFile: boolean;
  /** By its first bytes. Null: none that models read. */
  readonly type: ImageType | null;
  /** Its bytes, in the body. */
  readonly bytes: Range;
}

/** Bytes that are not in one buffer: in pieces, or in a file. */
export interface StoredBytes {
  readonly length: number;
  /** The bytes from `start` to `end` (exclusive). A piece is valid until the next one is asked for. */
  read(start?: number, end?: number): AsyncIterable<Buffer>;
}

/** A body that was scanned once. Plain data except for the body: it may be read in a thread. */
export interface OpenedImages<Body = Buffer> {
  readonly form: 'generation' | 'edit';
  readonly encoding: 'json' | 'multipart';
  readonly body: Body;
  /** Of the body, as the client named it; it contains the boundary of a form. */
  readonly contentType: string;
  /** The model as the client named it. */
  readonly model: string;
  /** Where the body names it: a value of JSON with its quotes, or the content of a form's field. */
  readonly modelRange: Range;
  /**
   * By name. Long texts of JSON are cut to their first kilobytes, since images are megabytes. The fields of a form are
   * texts, and its files are not among them.
   */
  readonly members: JsonRecord;
  /** Files of a form, in their order. */
  readonly files: readonly ImageFile[];
  /** What it names that upstreams store; a form names nothing. */
  readonly namedStates: readonly NamedState[] | undefined;
  /** Where the body has the prompt, like `modelRange`; empty if it has none. */
  readonly promptRange: Range;
  /** Bytes of the prompt. */
  readonly promptBytes: number;
}

/** A request whose values were checked. */
export interface ImagesRequest<Body = Buffer> extends OpenedImages<Body> {
  readonly stream: boolean;
  /** How many images it asks for: `n`, or `max_images` of a set; 1 if it does not say. */
  readonly images: number;
  /** As the client wrote it: `1024x1536`, `2K`, `auto`; null: it did not. */
  readonly size: string | null;
  /** The image is decomposed into layers. */
  readonly layers: boolean;
  /** The number of source images in the request. A mask is not counted. */
  readonly sources: number;
  /** What it asks for that may cost more, as prices name it: `models.other`, `service_tier.priority`. */
  readonly terms: readonly string[];
}

export interface ImagesResponse {
  readonly body: Buffer;
  readonly entries: readonly ImageEntry[];
  /** Of the whole response. */
  readonly size: string | null;
  /** References that the upstream counted, if that is a whole number. */
  readonly inputImages: number | null;
  readonly usage: ReportedUsage | null;
}

/** The members that the gateway reads, by their names in JSON and in forms. */
export const memberNames = [
  'model',
  'prompt',
  'n',
  'size',
  'quality',
  'background',
  'output_format',
  'output_compression',
  'moderation',
  'response_format',
  'stream',
  'partial_images',
  'image',
  'mask',
  'layer_decomposition',
  'sequential_image_generation',
  'service_tier',
  'models',
  'fallbacks',
] as const;
