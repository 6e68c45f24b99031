import { PieceOutline } from '#json/index.ts';
import { boundaryOf, openParts } from './form-request.ts';
import { FormReader } from './form.ts';
import { promptBytesIn } from './json-request.ts';
import type { OpenedImages } from './types.ts';

type Opened = Omit<OpenedImages, 'body'>;

/**
 * Reads a request piece by piece as it arrives, so that its images need not be in memory. What is wrong with it is
 * said at its end.
 */
export interface ImagePieceReader {
  /** In bytes: the memory that it takes. */
  readonly keptBytes: number;
  add(piece: Buffer): void;
  /** @throws GatewayError `invalid_value` for a broken form, `invalid_body`, `too_complex` */
  end(): PieceForm | PieceJson;
}

export interface PieceForm {
  readonly encoding: 'multipart';
  /** @throws GatewayError as `openEdit` */
  open(): Opened;
}

export interface PieceJson {
  readonly encoding: 'json';
  /** The body with its long texts cut. It is read like a small body. */
  readonly outline: Buffer;
  /** What was read of the outline, with the places in the whole body. */
  placed(openedImages: Opened): Opened;
}

/** @param contentType as the client sent it: one that the endpoint takes */
export function createPieceReader(
  form: OpenedImages['form'],
  contentType: string,
): ImagePieceReader {
  const [type = ''] = contentType.split(';', 1);
  const isForm = form === 'edit' && type.trim().toLowerCase() === 'multipart/form-data';
  return isForm ? formReader(contentType) : jsonReader();
}

function formReader(contentType: string): ImagePieceReader {
  let reader: FormReader | null = null;
  let failure: unknown = null;
  try {
    reader = new FormReader(boundaryOf(contentType));
  } catch (error) {
    failure = error;
  }
  return {
    get keptBytes() {
      return reader?.memoryBytes ?? 0;
    },
    add: (piece) => reader?.add(piece),
    end() {
      if (reader === null) throw failure;
      const parts = reader.end();
      return { encoding: 'multipart', open: () => openParts(parts, contentType) };
    },
  };
}

function jsonReader(): ImagePieceReader {
  const reader = new PieceOutline();
  return {
    get keptBytes() {
      return reader.keptMemory;
    },
    add: (piece) => reader.add(piece),
    end: () => ({
      encoding: 'json',
      outline: reader.end(),
      placed(openedImages) {
        const promptRange = reader.placeOf(openedImages.promptRange);
        return {
          ...openedImages,
          modelRange: reader.placeOf(openedImages.modelRange),
          promptRange,
          promptBytes: promptBytesIn(promptRange),
        };
      },
    }),
  };
}
