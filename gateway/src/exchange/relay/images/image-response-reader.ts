import { type BodyPool, unreadableOf } from '#body-work/index.ts';
import { GatewayError } from '#errors/index.ts';
import { type ImageResponse, images, type ModelEcho } from '#protocols/index.ts';
import { readInThreadFrom } from '../attempts/in-thread.ts';
import {
  type ReadingResponse,
  type ResponseReader,
  threadRefused,
  UnchargedResponse,
} from '../attempts/response-reader.ts';
import type { Measured } from '../exchange/record.ts';
import { type MeasuredRequest, measureImages, unitsOf } from './measure-images.ts';

/** In bytes. */
export const largestResponse = 256 * 1024 * 1024;

/** A response that can be charged. */
export interface MeasuredImages {
  readonly body: Buffer;
  readonly measured: Measured;
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
  read(body: Buffer): MeasuredImages {
    return this.#measure(images.readResponse(body, this.#options.echo));
  }

  readInThread(body: Buffer): ReadingResponse<MeasuredImages> | null {
    if (body.length < readInThreadFrom) return null;
    const { bodies, keyId, echo } = this.#options;
    const running = bodies.run<'image-response'>(keyId, { kind: 'image-response', body, echo });
    const result = running.result.then(({ outcome }): MeasuredImages => {
      if ('error' in outcome) throw outcome.error;
      const { value } = outcome;
      if (value.kind === 'unreadable') throw unreadableOf(value);
      const entries = value.entries.map((entry) => {
        const { pictureStart: start } = entry;
        return { ...entry, pictureStart: start === null ? null : Buffer.from(start) };
      });
      // The pool gives bodies back as Buffers.
      return this.#measure({ ...value, entries, body: value.body as Buffer });
    }, threadRefused);
    return { result, abandon: () => running.abandon(new GatewayError('unavailable')) };
  }

  #measure(response: ImageResponse): MeasuredImages {
    const { prepared, missingUsage } = this.#options;
    const measured = measureImages(response, prepared, missingUsage);
    if (typeof measured !== 'string') return { body: response.body, measured };
    const units = unitsOf(response, prepared);
    throw new UnchargedResponse(measured.replaceAll('_', '-'), response.usage, units);
  }
}
