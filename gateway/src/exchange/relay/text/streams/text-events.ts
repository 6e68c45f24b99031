import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CollectedBody } from '#bodies/index.ts';
import { beginsAsJson, largestAnswer } from '#body-work/index.ts';
import type { GatewayError } from '#errors/index.ts';
import {
  brokenEndingError,
  isWellEnded,
  type StreamContext,
  type StreamEvent,
  type StreamTap,
  verdict,
  withUnknownEnding,
} from '#protocols/index.ts';
import { EventStreamReader, EventTooLarge, type UpstreamError } from '#upstream/index.ts';
import type { ReceivedAttempt, Receiver } from '../../attempts/receiver.ts';
import {
  type AttemptFailure,
  errorBodyLimit,
  failureOfResponse,
  isError,
  type OutcomeOf,
} from '../../attempts/outcome.ts';
import { ReadingResponse } from '../../attempts/response-reader.ts';
import { errorOfFailure } from '../../attempts/final-error.ts';
import type { CompleteText, SeenText } from '../measure-text.ts';
import type { TextResponseReader } from '../text-response-reader.ts';
import { EventRun, ResponseFlow, type ResponseFlowOptions } from './response-flow.ts';
import type { Spending, spendingOf } from './spending.ts';

/** No protocol has larger events. */
const eventLimit = 8 * 1024 * 1024;
/** A complete response that is turned into a stream is written in pieces of this many bytes. */
const turnBytes = 64 * 1024;
/** How long after the upstream's head the client's head is held back while there is no content. */
const headHoldMs = 10_000;
/** How long a response is drained after its client has left, if the upstream charges for all of it. */
const drainMs = 60_000;
/** How long a response that is complete, with its usage, waits for the end of the body: some servers never end it. */
const graceMs = 1_000;
/** If the client kept the upstream waiting for this long, the client is to blame for a stream that broke. */
const heldUpMs = 5_000;

type Outcome = OutcomeOf<CompleteText, SeenText>;

export interface TextEventsOptions extends ResponseFlowOptions {
  readonly context: StreamContext;
  readonly reader: Pick<TextResponseReader, 'protocol' | 'wire' | 'stream' | 'record'>;
  /** Follows what the response costs; null: it costs nothing. */
  readonly spending: ReturnType<typeof spendingOf>;
  readonly monotonic: () => number;
  readonly keepAliveMs: number;
  /** Called once, when the first bytes of the response have been written to the client. */
  readonly onShown: () => void;
  /** Called with a defect of the gateway that no caller would see. */
  readonly onDefect: (error: unknown) => void;
}

/** Receives a streamed text, and passes its events to the client as they come. */
export class TextEvents implements Receiver<CompleteText, SeenText> {
  attempt!: ReceivedAttempt<CompleteText, SeenText>;
  readonly takes = 'events';
  readonly drainMs = drainMs;
  readonly unreadable = 'not-a-stream';
  readonly #options: TextEventsOptions;
  readonly #tap: StreamTap;
  readonly #reader: EventStreamReader;
  readonly #run: EventRun;
  readonly #flow: ResponseFlow;
  readonly #spending: Spending | null;
  #headAt = 0;
  /** The monotonic time since which no bytes have come, as ticks see it; null: some came since the last tick. */
  #quietSince: number | null = null;
  /** How many of the ids in the response have been recorded. */
  #recordedCount = 0;
  /** What has come of a complete response is JSON. Null until enough has come to tell. */
  #isJson: boolean | null = null;

  constructor(options: TextEventsOptions) {
    this.#options = options;
    this.#tap = options.reader.protocol.createStreamTap(options.context);
    this.#reader = new EventStreamReader({
      maxEventBytes: eventLimit,
      onEvent: (event) => this.#onEvent(event),
    });
    const { onDefect } = options;
    const end = (error: GatewayError): void => this.#overspend(error);
    this.#spending = options.spending?.(this.#tap, { end, onDefect }) ?? null;
    this.#run = new EventRun(options.sink.framing.verbatim, (bytes) => this.#show(bytes));
    this.#flow = new ResponseFlow(options, this.#run);
  }

  get isOpened(): boolean {
    return this.#options.sink.isOpened;
  }

  get isShown(): boolean {
    return this.#options.sink.isShown;
  }

  get seenResponse(): SeenText {
    return { tap: this.#tap };
  }

  get awaitsUsage(): boolean {
    return this.#tap.awaitsUsage;
  }

  begin(): void {
    this.#headAt = this.#options.monotonic();
  }

  take(chunk: Buffer): void {
    this.#quietSince = null;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      if (!(error instanceof EventTooLarge)) throw error;
      this.attempt.cut('event-too-large');
      return;
    }
    this.#run.flush();
    const spending = this.#spending;
    if (spending === null || this.#tap.outputBytes < spending.next) return;
    if (this.#isAnswering) spending.look();
  }

  end(): void {
    this.#reader.end();
    this.#run.flush();
    const { attempt } = this;
    if (attempt.over) return;
    if (attempt.isDraining) attempt.leave();
    // The response is complete only if its protocol says so; a body that just ends is a failure.
    else if (this.#tap.finished) this.#complete();
    else attempt.cut('no-terminator');
  }

  /** A body that is not JSON, or too large, is not a complete response either. */
  check(body: CollectedBody): void {
    if (body.length < errorBodyLimit) return;
    this.#isJson ??= beginsAsJson(body.whole());
    if (!this.#isJson || body.length > largestAnswer) this.attempt.cut('not-a-stream');
  }

  /** Turns a complete response into the stream that was asked for. */
  read(body: CollectedBody): void {
    let events;
    try {
      events = this.#options.reader.stream(body.whole());
    } catch (error) {
      this.attempt.failReading(error);
      return;
    }
    if (events instanceof ReadingResponse) {
      void this.#readElsewhere(this.attempt.awaitReading(events));
      return;
    }
    this.attempt.takeAsEvents();
    this.take(events);
    if (!this.attempt.over) this.end();
  }

  /** The events of a large response are written in pieces, so that other clients are served in between. */
  async #readElsewhere(reading: Promise<Buffer>): Promise<void> {
    const { attempt } = this;
    try {
      const events = await reading;
      attempt.takeAsEvents();
      for (let at = 0; at < events.length && !attempt.over; at += turnBytes) {
        this.take(events.subarray(at, at + turnBytes));
        await nextTurn();
      }
      if (!attempt.over) this.end();
    } catch (error) {
      attempt.failReading(error);
    }
  }

  broke({ breakPoint, reason }: UpstreamError): boolean {
    const { attempt } = this;
    if (attempt.isDraining) attempt.leave();
    // Its usage never came.
    else if (breakPoint === 'started' && reason === 'idle-timeout' && this.#tap.finished) {
      this.#complete(true);
    } else return false;
    return true;
  }

  /** Another channel may be tried if the client has seen nothing. */
  failed(failure: AttemptFailure): Outcome {
    const { sink, monotonic } = this.#options;
    const { status } = this.attempt;
    const { usage } = this.#tap;
    const { final, result, classification } = failure;
    if (!sink.isShown) {
      return final === undefined ? { ...failure, usage: failure.usage ?? usage } : failure;
    }
    const isHeldUp = sink.heldUpFor(monotonic()) >= heldUpMs;
    return {
      kind: 'broken',
      status,
      error: final ?? errorOfFailure(failure, null),
      classification: final === undefined ? classification : null,
      seenResponse: this.seenResponse,
      usage,
      result,
      isPaid: isHeldUp || result === 'deadline' || result === 'overspent',
    };
  }

  completes(): boolean {
    const { finished, awaitsUsage } = this.#tap;
    if (this.#flow.stage !== 'ending' || !finished || awaitsUsage) return false;
    this.#complete();
    return true;
  }

  letGo(): void {
    this.#flow.takeHeld();
    // It may be paused because the client did not read.
    this.attempt.call.resume();
  }

  settle(now: number): boolean {
    this.#quietSince ??= now;
    const isWhole = this.#isAnswering && this.#tap.finished && !this.#tap.awaitsUsage;
    if (!isWhole || now - this.#quietSince < graceMs) return false;
    this.#complete(true);
    return true;
  }

  tick(now: number): void {
    const { sink, headers, keepAliveMs } = this.#options;
    const { status } = this.attempt;
    const isHolding = status !== 0 && !isError(status) && this.#flow.stage === 'holding';
    if ((isHolding && now - this.#headAt >= headHoldMs) || sink.inDoubt) sink.open(headers);
    if (sink.isOpened) sink.keepAlive(now, keepAliveMs);
    else if (now - sink.lastWriteAt >= keepAliveMs) {
      // The client, or something on the way to it, would take a longer silence for a dead connection.
      sink.open(headers);
      sink.keepAlive(now, 0);
    }
  }

  stop(): boolean {
    const { attempt } = this;
    if (attempt.isDraining) attempt.leave();
    else if (this.#flow.stage === 'ending' && this.#tap.finished) this.#complete(true);
    else return false;
    return true;
  }

  get #isAnswering(): boolean {
    return !this.attempt.over && !this.attempt.isLeft;
  }

  /** What has come costs more than is left. A response that is complete is not taken away. */
  #overspend(error: GatewayError): void {
    if (!this.#isAnswering || this.#flow.stage === 'ending' || !this.#options.sink.isShown) return;
    this.attempt.endWith(error, 'overspent');
  }

  #onEvent(event: StreamEvent): void {
    const { attempt } = this;
    if (attempt.over) return;
    const flags = this.#tap.inspect(event);
    const { storedNames } = this.#tap;
    if (storedNames !== undefined && storedNames.length > this.#recordedCount) {
      this.#options.reader.record(storedNames.slice(this.#recordedCount));
      this.#recordedCount = storedNames.length;
    }
    if (attempt.isLeft) {
      this.#unseen(flags);
      return;
    }
    if ((flags & verdict.failed) !== 0) {
      this.#run.flush();
      this.#fail(this.#tap.failure);
      return;
    }
    const bytes =
      (flags & verdict.drop) !== 0
        ? null
        : (flags & verdict.replace) !== 0
          ? this.#tap.replacement
          : event.raw;
    if (!this.#flow.add(bytes, flags)) attempt.cut('head-too-large');
    else if (this.#flow.stage === 'ending' && this.#tap.closed) this.#complete(true);
  }

  /**
   * A drain that awaits only the usage has no slot: it ends when more content comes, because no client pays for content
   * that the client has not seen begin.
   */
  #unseen(flags: number): void {
    const { attempt } = this;
    const isOver = this.#tap.closed || (flags & verdict.failed) !== 0;
    if (isOver || !(attempt.hasDrainSlot || this.#tap.awaitsUsage)) attempt.leave();
  }

  #show(bytes: Buffer): void {
    const { sink, onShown } = this.#options;
    const shownBefore = sink.isShown;
    sink.show(bytes, this.attempt.call);
    if (!shownBefore && sink.isShown) onShown();
  }

  /** @param error as in an error body of the upstream's protocol */
  #fail(error: unknown): void {
    const { upstreamHeaders, status } = this.attempt;
    this.attempt.fail({ ...failureOfResponse(null, upstreamHeaders, error), status });
  }

  #complete(isEarly = false): void {
    const tap = this.#tap;
    const { usage, unknownEnding = null } = tap;
    if (
      unknownEnding !== null &&
      !isWellEnded(this.#options.reader.wire.name, unknownEnding, usage)
    ) {
      this.#fail(brokenEndingError(unknownEnding));
      return;
    }
    const body: (Buffer | string)[] = this.#flow.takeHeld();
    let completion;
    try {
      completion = tap.completion();
    } catch (error) {
      // The caller handles the error. A second call would throw again, so the attempt ends here.
      this.attempt.cut('defect');
      throw error;
    }
    if (completion !== '') body.push(completion);
    const knownUsage = unknownEnding === null ? usage : withUnknownEnding(usage, unknownEnding);
    this.attempt.complete({ usage: knownUsage, tap, body }, isEarly);
  }
}
