import { joinInTurns } from '#bodies/index.ts';
import type { BodyPool } from '#body-work/index.ts';
import type { Loss, Image, ImageResponse } from '#canonical/index.ts';
import {
  type FetchMedia,
  fetchImages,
  inspectImages,
  type ImageReading,
  type ReadImages,
} from '#conversion/index.ts';
import { splicePieces } from '#json/index.ts';
import type { ImageEntry } from '#protocols/index.ts';
import { callOnResponse } from '../../attempts/in-thread.ts';
import {
  ReadingResponse,
  type ResponseReader,
  UnchargedResponse,
} from '../../attempts/response-reader.ts';
import type { Measured } from '../../ending/record.ts';
import { largestResponse, type MeasuredImages } from '../image-response-reader.ts';
import {
  measureImages,
  measureWithoutImages,
  type ReturnedImages,
  unitsOf,
} from '../measure-images.ts';
import type { ConvertibleImages } from './surface.ts';

export interface ConvertedImageReaderOptions extends ImageReading {
  readonly bodies: BodyPool;
  /** Threads take turns by it. */
  readonly keyId: string;
  readonly prepared: ConvertibleImages;
  readonly missingUsage: 'estimate' | 'zero' | 'error';
  /** Runs what fetches the images of a response. */
  readonly fetching: <Result>(work: (fetch: FetchMedia) => Promise<Result>) => Promise<Result>;
  readonly losses: ResponseLoss;
}

/** What came with the images of a response and has no place in the client's protocol. */
export class ResponseLoss {
  readonly #losses: Loss[] = [];

  add(names: readonly string[]): void {
    for (const name of names) this.#losses.push({ what: `answer.${name}`, how: 'dropped' });
  }

  all(): readonly Loss[] {
    return this.#losses;
  }
}

/** Reads, measures and converts a whole response. */
export class ConvertedImageReader implements ResponseReader<MeasuredImages> {
  readonly largest = largestResponse;
  readonly sizeIsRequested = true;
  readonly #options: ConvertedImageReaderOptions;

  constructor(options: ConvertedImageReaderOptions) {
    this.#options = options;
  }

  /** In several turns: images may have to be fetched. */
  read(body: Buffer): ReadingResponse<MeasuredImages> {
    const { bodies, keyId, upstream, isOwn, echo } = this.#options;
    const args = { body, upstream, isOwn, echo };
    const read = callOnResponse(bodies, keyId, 'readConvertedImages', args);
    return read instanceof ReadingResponse
      ? read.with((foundImages) => this.#convert(args.body, foundImages))
      : new ReadingResponse(this.#convert(body, read));
  }

  async #convert(body: Buffer, read: ReadImages): Promise<MeasuredImages> {
    const { isOwn, fetching, losses, prepared } = this.#options;
    if (isOwn) return this.#showable(body, read, await inspectImages(read.upstreamResponse));
    const foundImages = await inspectImages(
      await fetching((fetchImage) => fetchImages(read.upstreamResponse, fetchImage)),
    );
    losses.add(foundImages.others);
    const { clientResponse } = read;
    const measuredUsage = this.#measure(
      clientResponse === null
        ? returnedImagesOf(foundImages)
        : withHeaders(clientResponse, foundImages.images),
    );
    return {
      body: await joinInTurns(prepared.openedImages.encode(foundImages)),
      measuredUsage,
    };
  }

  /** The bytes of the response, with the client's name of the model. */
  async #showable(
    body: Buffer,
    { edit }: ReadImages,
    foundImages: ImageResponse,
  ): Promise<MeasuredImages> {
    const measuredUsage =
      foundImages.images.length > 0
        ? this.#measure(returnedImagesOf(foundImages))
        : // A text, or a prompt that was blocked, is a response too, where the client has one word for both.
          measureWithoutImages(foundImages.usage, this.#options.prepared);
    return {
      body: await joinInTurns(splicePieces(body, edit === null ? [] : [edit])),
      measuredUsage,
    };
  }

  /** @throws UnchargedResponse */
  #measure(answeredImages: ReturnedImages): Measured {
    const { prepared, missingUsage } = this.#options;
    const measuredUsage = measureImages(answeredImages, prepared, missingUsage);
    if (typeof measuredUsage !== 'string') return measuredUsage;
    const units = unitsOf(answeredImages, prepared);
    throw new UnchargedResponse(measuredUsage.replaceAll('_', '-'), answeredImages.usage, units);
  }
}

/** Each image has its own size. */
function returnedImagesOf({ images: foundImages, usage }: ImageResponse): ReturnedImages {
  const entries = foundImages.map(({ size }) => entryOf(size, null));
  return { entries, size: null, inputImages: null, usage };
}

/** With the beginnings of images that were not in the response and have been fetched. */
function withHeaders(
  answeredImages: ReturnedImages,
  foundImages: readonly Image[],
): ReturnedImages {
  const fetchedImages = foundImages.values();
  const entries = answeredImages.entries.map((entry): ImageEntry => {
    if (entry.isFailed) return entry;
    const { value } = fetchedImages.next();
    if (entry.imageStart !== null || value?.source.kind !== 'base64') return entry;
    const head = value.source.base64.toString('latin1', 0, headLength);
    return { ...entry, imageStart: Buffer.from(head, 'base64') };
  });
  return { ...answeredImages, entries };
}

/** Characters of Base64 in which an image says its size. */
const headLength = 64 * 1024;

function entryOf(size: string | null, imageStart: Buffer | null): ImageEntry {
  return { size, zIndex: null, isFailed: false, imageStart };
}
