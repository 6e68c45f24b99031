import { setImmediate as nextTurn } from 'node:timers/promises';
import { type CollectedBody, joinInTurns } from '#bodies/index.ts';
import {
  eventOf,
  type EventPieces,
  type ImageStreamTap,
  type StreamEvent,
  verdict,
} from '#protocols/index.ts';
import { EventStreamReader, EventTooLarge } from '#upstream/index.ts';
import type { UnitsRecord } from '#usage/index.ts';
import type { ReceivedAttempt, Receiver } from '../attempts/receiver.ts';
import {
  type AttemptFailure,
  brokenAttempt,
  failureOfResponse,
  isError,
  type OutcomeOf,
} from '../attempts/outcome.ts';
import { errorOfFailure } from '../attempts/final-error.ts';
import { ReadingResponse, type ResponseReader } from '../attempts/response-reader.ts';
import type { Measured } from '../ending/record.ts';
import type { StreamSink } from '../stream-sink.ts';
import type { MeasuredImages } from './image-response-reader.ts';
import { isUncharged, type StreamMeter, type Uncharged } from './measure-images.ts';

/** In bytes. One event holds a whole image. */
const eventLimit = 64 * 1024 * 1024;
/** In bytes, of what comes before the first image. */
const heldLimit = 1024 * 1024;
/** In bytes. */
const smallEvent = 64 * 1024;
/** How long the client's head is held back while there is no image: until then an error can have a status of its own. */
const headHoldMs = 10_000;
/** If the client kept the upstream waiting for this long, the client is to blame for a stream that broke. */
const heldUpMs = 5_000;
/**
 * How long before the deadline a client that does not keep up is no longer waited for, so that the rest can be read; at
 * most a quarter of the time.
 */
const readRestMs = 30_000;

export interface CompleteImages {
  readonly measuredUsage: Measured;
  /** What the client gets once the row is durable. */
  readonly rest: readonly Buffer[];
}

/**
 * How an attempt of a streamed request ended. Of a broken stream: what the client pays anyway, because it had its
 * images, and kept the upstream waiting or had no more time.
 */
export type ImageStreamOutcome = OutcomeOf<CompleteImages, Measured | null>;

/** How events with images are read and written. */
export interface ImageEvents {
  /** Whether the data of an event is all there. */
  isWholeEvent(data: Buffer): boolean;
  /** The events of an equivalent stream, for a response that came whole. */
  toEvents(body: Buffer): Iterable<EventPieces>;
}

export interface ImageStreamOptions {
  readonly events: ImageEvents;
  readonly tap: ImageStreamTap;
  readonly meter: StreamMeter;
  readonly sink: StreamSink;
  /** Reads a response that came whole. */
  readonly reader: ResponseReader<MeasuredImages>;
  readonly monotonic: () => number;
  readonly keepAliveMs: number;
  /** The attempt's. */
  readonly deadline: number;
  /** Sent with the head when this attempt opens the response. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** Called once, when the first image arrives. */
  readonly onFirstContent: () => void;
}

/** Receives images in a stream, and passes them to the client as they come. */
export class ImageStream implements Receiver<CompleteImages, Measured | null> {
  attempt!: ReceivedAttempt<CompleteImages, Measured | null>;
  readonly takes = 'events';
  /** Whatever the upstream was asked for is still made, and charged. */
  readonly drainMs = Number.POSITIVE_INFINITY;
  readonly #options: ImageStreamOptions;
  readonly #events: EventStreamReader;
  readonly #startedAt: number;
  readonly #readRestFrom: number;
  /** What a response that came whole used. */
  #measuredUsage: Measured | null = null;
  /** Before the first image, and from the terminator on. */
  #heldEvents: Buffer[] = [];
  #heldBytes = 0;
  /** In bytes, of the event that is arriving. */
  #arrivedBytes = 0;
  #hasContent = false;
  #ending = false;
  /** The client gets nothing more: it read too slowly until the time was nearly up. */
  #isLeftBehind = false;

  constructor(options: ImageStreamOptions) {
    this.#options = options;
    this.#startedAt = options.monotonic();
    const { deadline } = options;
    this.#readRestFrom = deadline - Math.min(readRestMs, (deadline - this.#startedAt) / 4);
    this.#events = new EventStreamReader({
      maxEventBytes: eventLimit,
      isWhole: options.events.isWholeEvent,
      onEvent: (event) => this.#onEvent(event),
    });
  }

  get madeUnits(): UnitsRecord {
    const { meter, tap } = this.#options;
    return meter.unitsOf(tap);
  }

  take(chunk: Buffer): void {
    const { attempt } = this;
    this.#arrivedBytes += chunk.length;
    if (!attempt.hasRoom(this.#arrivedBytes, eventLimit + this.#options.tap.heldBytes)) return;
    try {
      this.#events.push(chunk);
    } catch (error) {
      if (!(error instanceof EventTooLarge)) throw error;
      attempt.cut('event-too-large');
    }
  }

  end(): void {
    this.#events.end();
    if (this.attempt.over) return;
    // A body that just ends before a final image is a failure.
    if (this.#options.tap.finished) this.#complete();
    else this.attempt.cut('no-terminator');
  }

  check({ length }: CollectedBody): void {
    const { largest } = this.#options.reader;
    if (length > largest) this.attempt.cut('answer-too-large');
    else this.attempt.hasRoom(length, largest);
  }

  read(body: CollectedBody): void {
    if (body.length === 0) this.end();
    else void this.#readWhole(body);
  }

  /** Turns a whole response into the events that were asked for, in turns. */
  async #readWhole(collectedBody: CollectedBody): Promise<void> {
    const { events, reader } = this.#options;
    const { attempt } = this;
    try {
      const body = await collectedBody.wholeInTurns();
      if (attempt.over) return;
      const read = reader.read(body);
      const response = read instanceof ReadingResponse ? await attempt.awaitReading(read) : read;
      this.#measuredUsage = response.measuredUsage;
      for (const event of events.toEvents(response.body)) {
        // Making an event takes a while, and so does reading it.
        await nextTurn();
        const raw = await joinInTurns(event.pieces);
        if (attempt.over) return;
        this.#onEvent(eventOf(event, raw));
      }
      if (!attempt.over) this.end();
    } catch (error) {
      attempt.failReading(error);
    }
  }

  failed(failure: AttemptFailure): ImageStreamOutcome {
    const { tap, sink, monotonic } = this.#options;
    const { final, classification, result } = failure;
    if (!sink.isShown) {
      return final === undefined ? { ...failure, usage: failure.usage ?? tap.usage } : failure;
    }
    const isHeldUp = sink.heldUpFor(monotonic()) >= heldUpMs;
    const isOurs = result === 'no-memory' || result === 'ended' || result === 'deadline';
    // What the client has is not free because its reading or this gateway broke the rest.
    const isOwed = tap.finished && (isHeldUp || this.#isLeftBehind || isOurs);
    const measuredUsage = isOwed ? this.#measure() : null;
    return {
      kind: 'broken',
      status: this.attempt.status,
      error: final ?? errorOfFailure(failure, null),
      classification: final === undefined ? classification : null,
      usage: tap.usage,
      units: failure.units ?? this.madeUnits,
      result,
      seenResponse: measuredUsage === null || isUncharged(measuredUsage) ? null : measuredUsage,
    };
  }

  letGo(): void {
    this.#heldEvents = [];
    // It may be paused because the client did not read.
    this.attempt.call.resume();
  }

  tick(now: number): void {
    const { sink, keepAliveMs } = this.#options;
    const { status } = this.attempt;
    if (sink.heldUpFor(now) > 0 && now >= this.#readRestFrom) this.#leaveBehind();
    // Many upstreams respond only when their images are there, which takes longer than proxies wait.
    const isDue = now - this.#startedAt >= headHoldMs || (status !== 0 && sink.inDoubt);
    const isRefused = status !== 0 && isError(status);
    if (isDue && !isRefused) this.#open();
    sink.keepAlive(now, keepAliveMs);
  }

  /**
   * The rest is read without the client, as of one that has left. Reading slowly until the time is up would leave the
   * last image unread, and the images before it free.
   */
  #leaveBehind(): void {
    if (this.#isLeftBehind) return;
    this.#isLeftBehind = true;
    this.letGo();
  }

  stop(): boolean {
    if (!this.#ending || !this.#options.tap.finished) return false;
    this.#complete();
    return true;
  }

  #onEvent(event: StreamEvent): void {
    const { attempt } = this;
    if (attempt.over) return;
    const { tap } = this.#options;
    const flags = tap.inspect(event);
    this.#arrivedBytes = tap.heldBytes;
    if ((flags & verdict.failed) !== 0) {
      // Or it is an image that must not be shown.
      const failure = failureOfResponse(null, attempt.upstreamHeaders, tap.failure);
      attempt.fail({ ...failure, units: this.madeUnits });
      return;
    }
    if ((flags & verdict.terminal) !== 0) this.#ending = true;
    const isContent = (flags & verdict.content) !== 0;
    if (isContent && !this.#hasContent) {
      this.#hasContent = true;
      this.#options.onFirstContent();
    }
    if ((flags & verdict.drop) === 0) {
      const pieces = (flags & verdict.replace) === 0 ? [event.raw] : tap.replacement;
      this.#pass(joinedPieces(pieces));
    }
    if (this.#ending && tap.closed) this.#complete();
  }

  #pass(pieces: readonly Buffer[]): void {
    const { attempt } = this;
    if (attempt.isLeft || this.#isLeftBehind) return;
    if (this.#ending || !this.#hasContent) {
      for (const bytes of pieces) this.#heldBytes += bytes.length;
      if (this.#ending || this.#heldBytes <= heldLimit) this.#heldEvents.push(...pieces);
      return;
    }
    this.#open();
    for (const bytes of [...this.#takeHeld(), ...pieces]) {
      this.#options.sink.show(bytes, attempt.call);
    }
  }

  #open(): void {
    const { sink, headers } = this.#options;
    if (!sink.isOpened) sink.open(headers());
  }

  #takeHeld(): Buffer[] {
    const heldEvents = this.#heldEvents;
    this.#heldEvents = [];
    return heldEvents;
  }

  #complete(): void {
    const { tap } = this.#options;
    const { attempt } = this;
    const measuredUsage = this.#measure();
    if (isUncharged(measuredUsage)) {
      const failure = brokenAttempt(attempt.status, 'started', measuredUsage.replaceAll('_', '-'));
      attempt.fail({ ...failure, units: this.madeUnits });
    } else if (this.#isLeftBehind && !attempt.isLeft) attempt.cut('deadline');
    else {
      attempt.complete({
        measuredUsage,
        rest: [...this.#takeHeld(), ...tap.completion()],
      });
      // The connection was for this request alone.
      attempt.call.abort();
    }
  }

  /** Of a response that came whole, all is known. */
  #measure(): Measured | Uncharged {
    const { meter, tap } = this.#options;
    return this.#measuredUsage ?? meter.measure(tap);
  }
}

/** Small events in one write. */
function joinedPieces(pieces: readonly Buffer[]): readonly Buffer[] {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return length > smallEvent ? pieces : [Buffer.concat(pieces)];
}
