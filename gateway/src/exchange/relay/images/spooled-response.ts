import { type BodyEdit, type SpooledBody, SpoolFailure, type SpoolSpace } from '#bodies/index.ts';
import { images, type ModelEcho } from '#protocols/index.ts';
import type { ReceivedAttempt, Receiver } from '../attempts/receiver.ts';
import type { OutcomeOf } from '../attempts/outcome.ts';
import { UnchargedResponse } from '../attempts/response-reader.ts';
import { tooLarge } from '../attempts/whole-response.ts';
import type { ClientResponse } from '../exchange.ts';
import type { Measured } from '../ending/record.ts';
import { largestResponse } from './image-response-reader.ts';
import { type MeasuredRequest, measureImages, referencesOf, unitsOf } from './measure-images.ts';

export interface SpooledResponseOptions {
  readonly space: SpoolSpace;
  readonly echo: ModelEcho;
  readonly prepared: MeasuredRequest;
  readonly missingUsage: 'estimate' | 'zero' | 'error';
}

/** A response that can be charged, and whose bytes are in memory or in a file. */
export interface StoredImages {
  readonly measuredUsage: Measured;
  /** Bytes of the body that the client gets. */
  readonly length: number;
  /**
   * Writes the body to a client, no faster than the client reads.
   * @throws SpoolFailure if the file cannot be read; the response breaks off then.
   */
  writeTo(client: ClientResponse): Promise<void>;
}

/** Receives a response of any size: reads it as it arrives, and stores it until it may be shown. */
export class SpooledResponse implements Receiver<StoredImages, never> {
  attempt!: ReceivedAttempt<StoredImages, never>;
  readonly takes = 'pieces';
  /** The client is waited for to the end. */
  readonly drainMs = Number.POSITIVE_INFINITY;
  readonly #options: SpooledResponseOptions;
  readonly #scan = images.scanResponse();
  #body: SpooledBody | null = null;

  constructor(options: SpooledResponseOptions) {
    this.#options = options;
  }

  begin(): void {
    const body = this.#options.space.open();
    this.#body = body;
    body.onDrain = () => this.attempt.call.resume();
  }

  take(piece: Buffer): void {
    const { attempt } = this;
    const body = this.#body!;
    this.#scan.add(piece);
    if (!body.add(piece)) attempt.call.pause();
    if (body.length > largestResponse) attempt.fail(tooLarge(attempt, true));
  }

  end(): void {
    void this.#finish(this.#body!);
  }

  async #finish(body: SpooledBody): Promise<void> {
    const { attempt } = this;
    try {
      const response = await this.#read(body);
      if (!attempt.over) attempt.complete(response);
    } catch (error) {
      attempt.failReading(error);
    }
  }

  /** @throws UnreadableResponse, UnchargedResponse */
  async #read(body: SpooledBody): Promise<StoredImages> {
    const { echo, prepared, missingUsage } = this.#options;
    const scannedResponse = this.#scan.end(echo);
    const measuredUsage = measureImages(scannedResponse, prepared, missingUsage);
    const unchargedError = (result: string) =>
      new UnchargedResponse(result, scannedResponse.usage, unitsOf(scannedResponse, prepared));
    if (typeof measuredUsage === 'string') throw unchargedError(measuredUsage.replaceAll('_', '-'));
    try {
      await body.seal();
    } catch (error) {
      if (!(error instanceof SpoolFailure)) throw error;
      throw unchargedError('not-stored');
    }
    const references = referencesOf(scannedResponse, prepared);
    return {
      measuredUsage,
      ...showableBody(body, [...scannedResponse.edits, ...scannedResponse.fills(references)]),
    };
  }

  release({ kind }: OutcomeOf<StoredImages, never>): void {
    if (kind !== 'complete') this.#body?.release();
  }
}

/** The body with the client's own name of the model, and with what the upstream left out. */
function showableBody(
  body: SpooledBody,
  edits: readonly BodyEdit[],
): Pick<StoredImages, 'length' | 'writeTo'> {
  const pieces = body.edited(edits);
  return { length: pieces.length, writeTo: (client) => writePieces(client, pieces.read()) };
}

/** Writes the rest of a body to a client, no faster than the client reads, and ends it. */
export async function writePieces(
  client: ClientResponse,
  pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<void> {
  let wake: () => void = () => {};
  client.onDrain(() => wake());
  client.onDisconnect(() => wake());
  for await (const piece of pieces) {
    if (client.disconnected) return;
    const drainEvent = new Promise<void>((resolve) => {
      wake = resolve;
    });
    if (!client.write(piece)) await drainEvent;
  }
  client.end();
}
