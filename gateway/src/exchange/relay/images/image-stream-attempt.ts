import { setImmediate as nextTurn } from 'node:timers/promises';
import { CollectedBody, joinInTurns } from '#bodies/index.ts';
import { beginsAsEvents, beginsAsJson } from '#body-work/index.ts';
import { GatewayError } from '#errors/index.ts';
import {
  eventOf,
  UnreadableResponse,
  verdict,
  type EventPieces,
  type PictureStreamTap,
  type StreamEvent,
} from '#protocols/index.ts';
import {
  createEventStreamReader,
  EventTooLarge,
  type EventStreamReader,
  type UpstreamCall,
  type UpstreamClient,
  type UpstreamError,
  type UpstreamHeaders,
  type UpstreamListener,
  type UpstreamRequest,
} from '#upstream/index.ts';
import { errorBodyLimit, failureOfResponse, isError, parseJson } from '../attempts/error-body.ts';
import {
  brokenAttempt,
  reachOf,
  type AttemptFailure,
  type BrokenAttempt,
  type OutcomeOf,
} from '../attempts/outcome.ts';
import {
  ResponseTooComplex,
  UnchargedResponse,
  type ReadingResponse,
  type ResponseReader,
} from '../attempts/response-reader.ts';
import type { ClientResponse } from '../exchange/client-response.ts';
import type { RequestMemory } from '../exchange/input.ts';
import type { Measured } from '../exchange/measured.ts';
import type { Ticker, TickListener, TickRegistration } from '../exchange/ticker.ts';
import type { StreamSink } from '../streams/stream-sink.ts';
import type { MeasuredImages } from './image-response-reader.ts';
import type { Uncharged } from './measure-images.ts';
import { isUncharged, type StreamMeter } from './stream-meter.ts';

/** In bytes. One event holds a whole picture. */
const eventLimit = 64 * 1024 * 1024;
/** In bytes, of what comes before the first picture. */
const heldLimit = 1024 * 1024;
/** In bytes. */
const smallEvent = 64 * 1024;
/** How long the client's head is held back while there is no picture: until then an error can have a status of its own. */
const headHoldMs = 10_000;
/** If the client kept the upstream waiting for this long, the client is to blame for a stream that broke. */
const heldUpMs = 5_000;
/**
 * How long before the deadline a client that does not keep up is no longer waited for, so that the rest can be read; at
 * most a quarter of the time.
 */
const readRestMs = 30_000;

export interface CompletePictures {
  readonly measured: Measured;
  /** What the client gets once the row is durable. */
  readonly rest: readonly Buffer[];
}

/**
 * How an attempt of a streamed request ended. Of a broken stream: what the client pays anyway, because it had its
 * pictures, and kept the upstream waiting or had no more time.
 */
export type ImageStreamOutcome = OutcomeOf<CompletePictures, Measured | null>;

/** How events with pictures are read and written. */
export interface PictureEvents {
  /** Whether the data of an event is all there. */
  isWholeEvent(data: Buffer): boolean;
  /** The events of an equivalent stream, for a response that came whole. */
  toEvents(body: Buffer): Iterable<EventPieces>;
}

export interface ImageStreamOptions {
  readonly upstream: UpstreamClient;
  readonly client: Pick<ClientResponse, 'disconnected'>;
  readonly events: PictureEvents;
  readonly tap: PictureStreamTap;
  readonly meter: StreamMeter;
  readonly sink: StreamSink;
  /** Reads a response that came whole. */
  readonly reader: ResponseReader<MeasuredImages>;
  readonly ticker: Ticker;
  readonly monotonic: () => number;
  readonly keepAliveMs: number;
  /** Monotonic time after which the attempt is given up. */
  readonly deadline: number;
  /** Sent with the head when this attempt opens the response. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** Called when a response without an error begins: the request is not sent again. */
  readonly onAnswered?: () => void;
  /** Called once, when the first picture arrives. */
  readonly onFirstContent: () => void;
  readonly errorOf: (failure: AttemptFailure) => GatewayError;
  /** Limits the memory for a large event; absent: it is not limited. */
  readonly memory?: RequestMemory | undefined;
  /** In bytes of an event: what `memory` already holds for it. */
  readonly reserved: number;
  /** Called with a defect of the gateway that no caller would see. */
  readonly onDefect: (error: unknown) => void;
}

/**
 * One try of a streamed request for pictures. Once the request has been sent, the attempt continues even if the client
 * leaves, because the upstream charges for the pictures.
 */
export class ImageStreamAttempt implements UpstreamListener, TickListener {
  readonly outcome: Promise<ImageStreamOutcome>;
  upstreamHeaders: UpstreamHeaders = {};
  readonly #options: ImageStreamOptions;
  readonly #events: EventStreamReader;
  readonly #call: UpstreamCall;
  readonly #ticks: TickRegistration;
  readonly #readRestFrom: number;
  #status = 0;
  readonly #startedAt: number;
  #begun = false;
  /** An error, or a response that is not a stream; null while events come. */
  #whole: CollectedBody | null = null;
  #reading: ReadingResponse<MeasuredImages> | null = null;
  /** What a response that came whole used. */
  #measured: Measured | null = null;
  /** Before the first picture, and from the terminator on. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** In bytes, of the event or the whole response that is arriving. */
  #arrived = 0;
  /** In bytes: what there is memory for. */
  #roomFor: number;
  #hasContent = false;
  #ending = false;
  /** The client gets nothing more: it read too slowly until the time was nearly up. */
  #isLeftBehind = false;
  #over = false;
  #resolve: (outcome: ImageStreamOutcome) => void = () => {};

  /** @param request is not kept. */
  constructor(request: UpstreamRequest, options: ImageStreamOptions) {
    this.#options = options;
    this.#roomFor = options.reserved;
    this.#startedAt = options.monotonic();
    const { deadline } = options;
    this.#readRestFrom = deadline - Math.min(readRestMs, (deadline - this.#startedAt) / 4);
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#events = createEventStreamReader({
      maxEventBytes: eventLimit,
      isWhole: options.events.isWholeEvent,
      onEvent: (event) => this.#onEvent(event),
    });
    this.#ticks = options.ticker.add(this);
    this.#call = options.upstream.send(request, this);
  }

  onHead(status: number, headers: UpstreamHeaders): void {
    this.#status = status;
    this.upstreamHeaders = headers;
    if (isError(status)) this.#whole = new CollectedBody();
    else this.#options.onAnswered?.();
  }

  onData(chunk: Buffer): void {
    if (this.#over) return;
    if (!this.#begun) this.#begin(chunk);
    if (!this.#hasRoom(chunk)) return;
    if (this.#whole === null) this.#read(chunk);
    else this.#collect(this.#whole, chunk);
  }

  /** Reserves memory as an event grows. False: there is none, and the attempt has ended. */
  #hasRoom(chunk: Buffer): boolean {
    this.#arrived += chunk.length;
    if (this.#arrived <= this.#roomFor) return true;
    const { memory, reader, tap } = this.#options;
    const most = this.#whole === null ? eventLimit + tap.heldBytes : reader.largest;
    this.#roomFor = Math.min(most, 2 * this.#arrived);
    if (memory === undefined || memory.tryResponse(this.#roomFor)) return true;
    this.#endWith(memory.refuse(), 'no-memory');
    return false;
  }

  onEnd(): void {
    if (this.#over) return;
    if (this.#whole === null) this.#endOfEvents();
    else if (isError(this.#status)) this.#finish(this.#judge(this.#whole));
    else void this.#readWhole(this.#whole);
  }

  onBreak(error: UpstreamError): void {
    if (this.#over) return;
    const { breakPoint, reason } = error;
    if (breakPoint === 'started') {
      // Even if the body broke off, the head of an error response says what is wrong.
      const isJudged = this.#whole !== null && reason !== 'defect' && isError(this.#status);
      if (isJudged) this.#finish(this.#judge(this.#whole!));
      else this.#cut(reason);
      return;
    }
    const stale = breakPoint === 'stale-connection';
    const attemptClass = stale ? 'uncertain' : breakPoint;
    this.#finish({ ...brokenAttempt(this.#status, attemptClass, reason), stale });
  }

  /** The client has closed its connection. What it asked for is still made, and charged. */
  clientDisconnected(): void {
    if (this.#over) return;
    this.#held = [];
    if (this.#call.sent) {
      // It may be paused because the client did not read.
      this.#call.resume();
      return;
    }
    const status = this.#status === 0 ? null : this.#status;
    this.#finish({ kind: 'disconnected', asked: false, status, shown: false, seen: null });
    this.#call.abort();
  }

  tick(now: number): void {
    const { client, deadline, sink, keepAliveMs } = this.#options;
    if (now >= deadline) {
      this.#cut('deadline');
      return;
    }
    if (client.disconnected) return;
    if (sink.heldUpFor(now) > 0 && now >= this.#readRestFrom) this.#leaveBehind();
    const isAnswered = this.#status !== 0;
    // Many upstreams respond only when their pictures are there, which takes longer than proxies wait.
    const isDue = now - this.#startedAt >= headHoldMs || (isAnswered && sink.inDoubt);
    const isRefused = isAnswered && isError(this.#status);
    if (isDue && !isRefused) this.#open();
    sink.keepAlive(now, keepAliveMs);
  }

  /**
   * The rest is read without the client, as of one that has left. Reading slowly until the time is up would leave the
   * last picture unread, and the pictures before it free.
   */
  #leaveBehind(): void {
    if (this.#isLeftBehind) return;
    this.#isLeftBehind = true;
    this.#held = [];
    this.#call.resume();
  }

  end(error: GatewayError): void {
    if (this.#over) return;
    if (this.#ending && this.#options.tap.finished) this.#complete();
    else this.#endWith(error, 'ended');
  }

  /** Some servers declare a wrong content type, or do not stream: the first bytes decide. */
  #begin(chunk: Buffer): void {
    this.#begun = true;
    if (this.#whole !== null || beginsAsEvents(chunk)) return;
    if (beginsAsJson(chunk) || !isEventStream(this.upstreamHeaders)) {
      this.#whole = new CollectedBody();
    }
  }

  #collect(body: CollectedBody, chunk: Buffer): void {
    body.add(chunk);
    if (isError(this.#status)) {
      // This much is enough to classify the error, and some bodies never end.
      if (body.length >= errorBodyLimit) this.#abortWith(this.#judge(body));
    } else if (body.length > this.#options.reader.largest) this.#cut('answer-too-large');
  }

  #read(chunk: Buffer): void {
    try {
      this.#events.push(chunk);
    } catch (error) {
      if (!(error instanceof EventTooLarge)) throw error;
      this.#cut('event-too-large');
    }
  }

  #endOfEvents(): void {
    this.#events.end();
    if (this.#over) return;
    // A body that just ends before a final picture is a failure.
    if (this.#options.tap.finished) this.#complete();
    else this.#cut('no-terminator');
  }

  /** Turns a whole response into the events that were asked for, in turns. */
  async #readWhole(collected: CollectedBody): Promise<void> {
    const { events, reader, onDefect } = this.#options;
    try {
      const body = await collected.wholeInTurns();
      if (this.#over) return;
      this.#reading = reader.readInThread?.(body) ?? null;
      const response = this.#reading === null ? reader.read(body) : await this.#reading.result;
      this.#reading = null;
      this.#whole = null;
      this.#measured = response.measured;
      for (const event of events.toEvents(response.body)) {
        // Making an event takes a while, and so does reading it.
        await nextTurn();
        const raw = await joinInTurns(event.pieces);
        if (this.#over) return;
        this.#onEvent(eventOf(event, raw));
      }
      if (!this.#over) this.#endOfEvents();
    } catch (error) {
      this.#reading = null;
      if (error instanceof UnreadableResponse) this.#unreadable(error);
      else if (error instanceof UnchargedResponse) this.#fail(error.result, error.units);
      else if (error instanceof ResponseTooComplex) this.#cut('too-complex');
      else if (error instanceof GatewayError) this.#endWith(error, 'ended');
      else {
        onDefect(error);
        this.#cut('defect');
      }
    }
  }

  #unreadable({ body, usage }: UnreadableResponse): void {
    const failure =
      body === null
        ? brokenAttempt(this.#status, 'started', 'unreadable')
        : failureOfResponse(null, this.upstreamHeaders, body);
    this.#finish({ ...failure, usage });
  }

  #onEvent(event: StreamEvent): void {
    if (this.#over) return;
    const { tap } = this.#options;
    const flags = tap.inspect(event);
    this.#arrived = tap.heldBytes;
    if ((flags & verdict.failed) !== 0) {
      this.#upstreamFailed();
      return;
    }
    if ((flags & verdict.terminal) !== 0) this.#ending = true;
    const isContent = (flags & verdict.content) !== 0;
    if (isContent && !this.#hasContent) this.#beginContent();
    if ((flags & verdict.drop) === 0) {
      const pieces = (flags & verdict.replace) === 0 ? [event.raw] : tap.replacement;
      this.#pass(joined(pieces));
    }
    if (this.#ending && tap.closed) this.#complete();
  }

  #beginContent(): void {
    this.#hasContent = true;
    this.#options.onFirstContent();
  }

  #pass(pieces: readonly Buffer[]): void {
    const { client, sink } = this.#options;
    if (client.disconnected || this.#isLeftBehind) return;
    if (this.#ending || !this.#hasContent) {
      for (const bytes of pieces) this.#heldBytes += bytes.length;
      if (this.#ending || this.#heldBytes <= heldLimit) this.#held.push(...pieces);
      return;
    }
    this.#open();
    for (const bytes of [...this.#takeHeld(), ...pieces]) sink.show(bytes, this.#call);
  }

  #open(): void {
    const { sink, headers } = this.#options;
    if (!sink.opened) sink.open(headers());
  }

  #takeHeld(): Buffer[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }

  #complete(): void {
    const { tap, meter } = this.#options;
    const measured = this.#measure();
    if (isUncharged(measured)) {
      this.#fail(measured.replaceAll('_', '-'), meter.unitsOf(tap));
      return;
    }
    if (this.#isLeftBehind && !this.#options.client.disconnected) {
      this.#cut('deadline');
      return;
    }
    const rest = [...this.#takeHeld(), ...tap.completion()];
    const response = { measured, rest };
    this.#abortWith({ kind: 'complete', status: this.#status, response });
  }

  /** The upstream reported a failure in an event, or a picture that must not be shown. */
  #upstreamFailed(): void {
    const { tap, meter } = this.#options;
    const failure = failureOfResponse(null, this.upstreamHeaders, tap.failure);
    this.#failed({ ...failure, units: meter.unitsOf(tap) });
  }

  #cut(result: string): void {
    const { tap, meter } = this.#options;
    this.#fail(result, meter.unitsOf(tap));
  }

  #fail(result: string, units: AttemptFailure['units'] & object): void {
    const reach = reachOf(this.#status, this.#call.sent);
    this.#failed({ ...brokenAttempt(this.#status, reach, result), units });
  }

  #failed(failure: AttemptFailure): void {
    const { tap, errorOf, sink } = this.#options;
    if (!sink.shown) {
      this.#abortWith({ ...failure, usage: tap.usage });
      return;
    }
    const { classification, result, units } = failure;
    this.#abortWith(this.#broken(errorOf(failure), classification, result, units));
  }

  #endWith(error: GatewayError, result: string): void {
    if (this.#options.sink.shown) {
      const { tap, meter } = this.#options;
      this.#abortWith(this.#broken(error, null, result, meter.unitsOf(tap)));
      return;
    }
    const reach = reachOf(this.#status, this.#call.sent);
    this.#abortWith({ ...brokenAttempt(this.#status, reach, result), final: error });
  }

  #broken(
    error: GatewayError,
    classification: BrokenAttempt['classification'],
    result: string,
    units: BrokenAttempt['units'],
  ): BrokenAttempt<Measured | null> {
    const { tap, sink, monotonic } = this.#options;
    const isHeldUp = sink.heldUpFor(monotonic()) >= heldUpMs;
    const isOurs = result === 'no-memory' || result === 'ended' || result === 'deadline';
    // What the client has is not free because its reading or this gateway broke the rest.
    const isOwed = tap.finished && (isHeldUp || this.#isLeftBehind || isOurs);
    const measured = isOwed ? this.#measure() : null;
    return {
      kind: 'broken',
      status: this.#status,
      error,
      classification,
      usage: tap.usage,
      ...(units !== undefined && { units }),
      result,
      seen: measured === null || isUncharged(measured) ? null : measured,
    };
  }

  /** Of a response that came whole, all is known. */
  #measure(): Measured | Uncharged {
    const { meter, tap } = this.#options;
    return this.#measured ?? meter.measure(tap);
  }

  #judge(body: CollectedBody): AttemptFailure {
    const json = parseJson(body.whole());
    return failureOfResponse(this.#status, this.upstreamHeaders, json);
  }

  #abortWith(outcome: ImageStreamOutcome): void {
    this.#finish(outcome);
    this.#call.abort();
  }

  #finish(outcome: ImageStreamOutcome): void {
    if (this.#over) return;
    this.#over = true;
    this.#whole = null;
    this.#reading?.abandon();
    this.#ticks.end();
    this.#resolve(outcome);
  }
}

/** Small events in one write. */
function joined(pieces: readonly Buffer[]): readonly Buffer[] {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return length > smallEvent ? pieces : [Buffer.concat(pieces)];
}

function isEventStream(headers: UpstreamHeaders): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && /^text\/event-stream\b/i.test(type);
}
