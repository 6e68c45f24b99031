import { SpoolFailure, type BodyEdit, type SpooledBody, type SpoolSpace } from '#bodies/index.ts';
import { images, type ModelEcho } from '#protocols/index.ts';
import { UnchargedResponse, type ResponseCollector } from '../attempts/response-reader.ts';
import type { Measured } from '../exchange/measured.ts';
import type { ClientResponse } from '../exchange/client-response.ts';
import { writePieces } from '../exchange/write-pieces.ts';
import { measureImages, referencesOf, unitsOf, type MeasuredRequest } from './measure-images.ts';

export interface SpooledResponseOptions {
  readonly space: SpoolSpace;
  readonly echo: ModelEcho;
  readonly prepared: MeasuredRequest;
  readonly missingUsage: 'estimate' | 'zero' | 'error';
}

/** A response that can be charged, and whose bytes are in memory or in a file. */
export interface StoredImages {
  readonly measured: Measured;
  /** Bytes of the body that the client gets. */
  readonly length: number;
  /**
   * Writes the body to a client, no faster than the client reads.
   * @throws SpoolFailure if the file cannot be read; the response breaks off then.
   */
  writeTo(client: ClientResponse): Promise<void>;
}

/** Takes a response of any size: reads it as it arrives, and stores it until it may be shown. */
export class SpooledResponse implements ResponseCollector<StoredImages> {
  onDrain: () => void = () => {};
  readonly #options: SpooledResponseOptions;
  readonly #body: SpooledBody;
  readonly #scan = images.scanResponse();

  constructor(options: SpooledResponseOptions) {
    this.#options = options;
    this.#body = options.space.open();
    this.#body.onDrain = () => this.onDrain();
  }

  get length(): number {
    return this.#body.length;
  }

  add(piece: Buffer): boolean {
    this.#scan.add(piece);
    return this.#body.add(piece);
  }

  /** @throws UnreadableResponse, UnchargedResponse */
  async finish(): Promise<StoredImages> {
    const { echo, prepared, missingUsage } = this.#options;
    const scanned = this.#scan.end(echo);
    const measured = measureImages(scanned, prepared, missingUsage);
    const uncharged = (result: string) =>
      new UnchargedResponse(result, scanned.usage, unitsOf(scanned, prepared));
    if (typeof measured === 'string') throw uncharged(measured.replaceAll('_', '-'));
    try {
      await this.#body.seal();
    } catch (error) {
      if (!(error instanceof SpoolFailure)) throw error;
      throw uncharged('not-stored');
    }
    const references = referencesOf(scanned, prepared);
    return { measured, ...shown(this.#body, [...scanned.edits, ...scanned.fills(references)]) };
  }

  release(): void {
    this.#body.release();
  }
}

/** The body with the client's own name of the model, and with what the upstream left out. */
function shown(
  body: SpooledBody,
  edits: readonly BodyEdit[],
): Pick<StoredImages, 'length' | 'writeTo'> {
  const pieces = body.edited(edits);
  return { length: pieces.length, writeTo: (client) => writePieces(client, pieces.read()) };
}
