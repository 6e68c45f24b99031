import type { BodyPool } from '#body-work/index.ts';
import type { ImagesResponse, ModelEcho } from '#protocols/index.ts';
import { callOnResponse } from '../attempts/in-thread.ts';
import {
  ReadingResponse,
  type ResponseReader,
  UnchargedResponse,
} from '../attempts/response-reader.ts';
import type { Measured } from '../ending/record.ts';
import { type MeasuredRequest, measureImages, unitsOf } from './measure-images.ts';

/** In bytes. */
export const largestResponse = 256 * 1024 * 1024;

/** A response that can be charged. */
export interface MeasuredImages {
  readonly body: Buffer;
  readonly measuredUsage: Measured;
}

export interface ImageReaderOptions {
  readonly bodies: BodyPool;
  /** Threads take turns by it. */
  readonly keyId: string;
  readonly echo: ModelEcho;
  readonly prepared: MeasuredRequest;
  readonly missingUsage: 'estimate' | 'zero' | 'error';
}

/** Reads and measures whole responses: the large ones are read in threads. */
export class ImageResponseReader implements ResponseReader<MeasuredImages> {
  readonly largest = largestResponse;
  readonly sizeIsRequested = true;
  readonly #options: ImageReaderOptions;

  constructor(options: ImageReaderOptions) {
    this.#options = options;
  }

  /** @throws UnreadableResponse, UnchargedResponse */
  read(body: Buffer): MeasuredImages | ReadingResponse<MeasuredImages> {
    const { bodies, keyId, echo } = this.#options;
    const read = callOnResponse(bodies, keyId, 'readImages', { body, echo });
    return read instanceof ReadingResponse
      ? read.with((response) => this.#measure(response))
      : this.#measure(read);
  }

  #measure(response: ImagesResponse): MeasuredImages {
    const { prepared, missingUsage } = this.#options;
    const measuredUsage = measureImages(response, prepared, missingUsage);
    if (typeof measuredUsage !== 'string') return { body: response.body, measuredUsage };
    const units = unitsOf(response, prepared);
    throw new UnchargedResponse(measuredUsage.replaceAll('_', '-'), response.usage, units);
  }
}
