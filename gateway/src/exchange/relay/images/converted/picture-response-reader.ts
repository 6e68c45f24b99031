import type { Loss, Picture, PictureResponse } from '#canonical/index.ts';
import {
  fetchPictures,
  measurePictures,
  type FetchMedia,
  type PictureUpstream,
} from '#conversion/index.ts';
import {
  images,
  pictures,
  type ImageEntry,
  type ImageResponse,
  type ModelEcho,
} from '#protocols/index.ts';
import {
  UnchargedResponse,
  type ReadingResponse,
  type ResponseReader,
} from '../../attempts/response-reader.ts';
import type { Measured } from '../../exchange/measured.ts';
import { largestResponse, type MeasuredImages } from '../image-response-reader.ts';
import { measureImages, measureWithoutPictures, unitsOf } from '../measure-images.ts';
import type { ConvertiblePictures } from './prepared.ts';

export interface PictureReaderOptions {
  readonly upstream: PictureUpstream;
  /** The client speaks the upstream's protocol: the bytes of the response are shown. */
  readonly isOwn: boolean;
  readonly echo: ModelEcho;
  readonly prepared: ConvertiblePictures;
  readonly missingUsage: 'estimate' | 'zero' | 'error';
  readonly fetchPicture: FetchMedia;
  readonly losses: ResponseLoss;
}

type Answered = Pick<ImageResponse, 'entries' | 'size' | 'inputImages' | 'usage'>;

/** What came with the pictures of a response and has no place in the client's protocol. */
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
export class PictureResponseReader implements ResponseReader<MeasuredImages> {
  readonly largest = largestResponse;
  readonly sizeIsRequested = true;
  readonly #options: PictureReaderOptions;

  constructor(options: PictureReaderOptions) {
    this.#options = options;
  }

  read(): MeasuredImages {
    throw new TypeError('pictures are read in several turns');
  }

  /** In several turns, and not in a thread: pictures may have to be fetched. */
  readInThread(body: Buffer): ReadingResponse<MeasuredImages> {
    const { isOwn } = this.#options;
    return { result: isOwn ? this.#readOwn(body) : this.#convert(body), abandon: () => {} };
  }

  async #readOwn(body: Buffer): Promise<MeasuredImages> {
    const { own } = this.#options.prepared.opened;
    if (own === null) throw new TypeError('the client has no upstream of its own protocol');
    const found = await measurePictures(own.read(body));
    const measured =
      found.pictures.length > 0
        ? this.#measure(answeredBy(found))
        : // A text, or a prompt that was blocked, is a response too, where the client has one word for both.
          measureWithoutPictures(found.usage, this.#options.prepared);
    return { body: own.write(body, this.#options.echo), measured };
  }

  async #convert(body: Buffer): Promise<MeasuredImages> {
    const { upstream, echo, fetchPicture, losses, prepared } = this.#options;
    const answered = upstream === 'images' ? images.readResponse(body, echo) : null;
    const decoded =
      answered === null
        ? pictures['generate-content'].decodeResponse(body)
        : pictures.images.decodeResponse(body, answered.usage);
    const found = await measurePictures(await fetchPictures(decoded, fetchPicture));
    losses.add(found.others);
    const charged = answered === null ? answeredBy(found) : withHeaders(answered, found.pictures);
    const measured = this.#measure(charged);
    return { body: prepared.opened.encode(found), measured };
  }

  /** @throws UnchargedResponse */
  #measure(answered: Answered): Measured {
    const { prepared, missingUsage } = this.#options;
    const measured = measureImages(answered, prepared, missingUsage);
    if (typeof measured !== 'string') return measured;
    const units = unitsOf(answered, prepared);
    throw new UnchargedResponse(measured.replaceAll('_', '-'), answered.usage, units);
  }
}

/** Each picture has its own size. */
function answeredBy({ pictures: found, usage }: PictureResponse): Answered {
  const entries = found.map(({ size }) => entryOf(size, null));
  return { entries, size: null, inputImages: null, usage };
}

/** With the beginnings of pictures that were not in the response and have been fetched. */
function withHeaders(answered: ImageResponse, found: readonly Picture[]): Answered {
  const fetched = found.values();
  const entries = answered.entries.map((entry): ImageEntry => {
    if (entry.isFailed) return entry;
    const { value } = fetched.next();
    if (entry.pictureStart !== null || value?.source.kind !== 'base64') return entry;
    const head = value.source.base64.toString('latin1', 0, headLength);
    return { ...entry, pictureStart: Buffer.from(head, 'base64') };
  });
  return { ...answered, entries };
}

/** Characters of Base64 in which a picture says its size. */
const headLength = 64 * 1024;

function entryOf(size: string | null, pictureStart: Buffer | null): ImageEntry {
  return { size, zIndex: null, isFailed: false, pictureStart };
}
