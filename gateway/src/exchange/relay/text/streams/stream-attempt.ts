import { setImmediate as nextTurn } from 'node:timers/promises';
import { beginsAsEvents, beginsAsJson, type WireProtocol } from '#body-work/index.ts';
import { GatewayError } from '#errors/index.ts';
import {
  brokenEndingError,
  isWellEnded,
  UnreadableResponse,
  verdict,
  withUnknownEnding,
  type Protocol,
  type StreamContext,
  type StreamEvent,
  type StreamTap,
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
import { ResponseTooComplex, type ReadingResponse } from '../../attempts/response-reader.ts';
import { failureOfResponse, isError } from '../../attempts/error-body.ts';
import { brokenAttempt } from '../../attempts/outcome.ts';
import type { ClientResponse } from '../../exchange/client-response.ts';
import type { DrainSlots } from '../../exchange/drain-slots.ts';
import type { Ticker, TickListener, TickRegistration } from '../../exchange/ticker.ts';
import type { LargeResponses } from '../large-response.ts';
import type { TakeGiven } from '../state/given-names.ts';
import { ResponseFlow, type ResponseFlowOptions } from './response-flow.ts';
import { EndOfBody } from './end-of-body.ts';
import {
  cutStream,
  endedStream,
  failedStream,
  disconnectedStream,
  type StreamOutcome,
  type StreamSoFar,
} from './stream-outcome.ts';
import type { Spending } from './spending.ts';
import type { spendingOf } from './spending-of.ts';
import { UnstreamedResponse } from './unstreamed-response.ts';

/** No protocol has larger events. */
const eventLimit = 8 * 1024 * 1024;
/** A complete response that is turned into a stream is written in pieces of this many bytes. */
const turnBytes = 64 * 1024;
/** How long after the upstream's head the client's head is held back while there is no content. */
const headHoldMs = 10_000;
/** How long a response is drained after its client has left, if the upstream charges for all of it. */
const drainMs = 60_000;
/** How long the usage is awaited if the client left after the last content: it is about to come. */
const lastUsageMs = 500;
/** How long a response that is complete, with its usage, waits for the end of the body: some servers never end it. */
const graceMs = 1_000;
/** If the client kept the upstream waiting for this long, the client is to blame for a stream that broke. */
const heldUpMs = 5_000;

export interface StreamAttemptOptions extends ResponseFlowOptions {
  readonly upstream: UpstreamClient;
  readonly protocol: Pick<Protocol, 'createStreamTap'>;
  /** The upstream's protocol. */
  readonly wire: WireProtocol;
  readonly context: StreamContext;
  /** Reads complete responses that are too large for this thread. */
  readonly large: LargeResponses;
  /** Null if the ids in the response are not the upstream's. */
  readonly takeGiven: TakeGiven | null;
  readonly client: Pick<ClientResponse, 'fail' | 'failedWith'>;
  readonly ticker: Ticker;
  /** Follows what the response costs; null: it costs nothing. */
  readonly spending: ReturnType<typeof spendingOf>;
  /** The slots for draining; null: when the client leaves, the upstream is cancelled at once. */
  readonly drains: DrainSlots | null;
  readonly monotonic: () => number;
  readonly keepAliveMs: number;
  /** Monotonic time after which the attempt is given up. */
  readonly deadline: number;
  /** Monotonic time until which the client waits for the head. */
  readonly clientDeadline: number;
  /** Called once, when the first bytes of the response have been written to the client. */
  readonly onShown: () => void;
  /** Called with a defect of the gateway that no caller would see. */
  readonly onDefect: (error: unknown) => void;
}

type Phase =
  /** The upstream has not sent its head. */
  | 'waiting'
  /** The upstream sent an error, or a complete response instead of a stream. */
  | 'judging'
  /** Events come and pass to the client through `ResponseFlow`. */
  | 'answering'
  /** The client has left, and the rest is read only for its usage. */
  | 'draining'
  | 'over';

/** One try of a streamed exchange: how it reacts to the upstream, the client and the clock, and how it ends. */
export class StreamAttempt implements UpstreamListener, TickListener {
  readonly outcome: Promise<StreamOutcome>;
  upstreamHeaders: UpstreamHeaders = {};
  readonly #options: StreamAttemptOptions;
  readonly #tap: StreamTap;
  readonly #reader: EventStreamReader;
  readonly #flow: ResponseFlow;
  readonly #call: UpstreamCall;
  #phase: Phase = 'waiting';
  #status = 0;
  #headAt = 0;
  /** The first bytes of the body have come. */
  #begun = false;
  /** Not null while `judging`. */
  #unstreamed: UnstreamedResponse | null = null;
  /** A thread is reading a complete response. */
  #reading: ReadingResponse<Buffer> | null = null;
  /** `draining` ends at this monotonic time. */
  #drainUntil = 0;
  #hasDrainSlot = false;
  /** The response is complete, but the upstream has not ended the body. */
  #endOfBody: EndOfBody | null = null;
  /** The monotonic time since which no bytes have come, as ticks see it; null: some came since the last tick. */
  #quietSince: number | null = null;
  /** How many of the ids in the response have been recorded. */
  #taken = 0;
  readonly #ticks: TickRegistration;
  readonly #spending: Spending | null;
  #resolve: (outcome: StreamOutcome) => void = () => {};

  /** @param request is not kept. */
  constructor(request: UpstreamRequest, options: StreamAttemptOptions) {
    this.#options = options;
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#tap = options.protocol.createStreamTap(options.context);
    this.#reader = createEventStreamReader({
      maxEventBytes: eventLimit,
      onEvent: (event) => this.#onEvent(event),
    });
    const { onDefect } = options;
    const end = (error: GatewayError): void => this.#overspend(error);
    this.#spending = options.spending?.(this.#tap, { end, onDefect }) ?? null;
    this.#flow = new ResponseFlow(options, (bytes) => this.#show(bytes));
    this.#ticks = options.ticker.add(this);
    this.#call = options.upstream.send(request, this);
  }

  onHead(status: number, headers: UpstreamHeaders): void {
    this.#status = status;
    this.upstreamHeaders = headers;
    this.#headAt = this.#options.monotonic();
    if (this.#phase === 'draining') return;
    if (!isError(status) && isEventStream(headers)) {
      this.#phase = 'answering';
      return;
    }
    this.#judge();
  }

  onData(chunk: Buffer): void {
    if (!this.#begun) this.#begin(chunk);
    this.#quietSince = null;
    if (this.#unstreamed === null) this.#read(chunk);
    else if (this.#unstreamed.add(chunk)) this.#finishJudged(this.#unstreamed);
  }

  onEnd(): void {
    if (this.#over) {
      this.#endOfBody?.come();
      return;
    }
    if (this.#unstreamed?.mayAnswer === true && this.#unstreamed.isLarge) {
      void this.#readElsewhere(this.#unstreamed);
      return;
    }
    if (this.#unstreamed !== null && !this.#readUnstreamed(this.#unstreamed)) return;
    this.#endOfEvents();
  }

  #endOfEvents(): void {
    this.#reader.end();
    this.#flow.flush();
    if (this.#phase === 'draining') this.#finishLeft();
    if (this.#over) return;
    // The response is complete only if its protocol says so; a body that just ends is a failure.
    if (this.#tap.finished) this.#complete();
    else this.#cut('no-terminator');
  }

  onBreak(error: UpstreamError): void {
    if (this.#over) {
      this.#endOfBody?.come();
      return;
    }
    if (this.#phase === 'draining') {
      this.#finishLeft();
      return;
    }
    if (error.breakPoint === 'started') {
      // Even if the body broke off, the head of an error response says what is wrong.
      if (error.reason === 'idle-timeout' && this.#phase === 'answering' && this.#tap.finished) {
        // Its usage never came.
        this.#completeEarly();
        return;
      }
      const isJudged = error.reason !== 'defect' && isError(this.#status);
      if (this.#unstreamed !== null && isJudged) this.#finishJudged(this.#unstreamed);
      else this.#cut(error.reason);
      return;
    }
    const stale = error.breakPoint === 'stale-connection';
    const attemptClass = stale ? 'uncertain' : error.breakPoint;
    this.#finish({ ...brokenAttempt(this.#status, attemptClass, error.reason), stale });
  }

  /**
   * The client has closed its connection. The upstream is cancelled, because nobody will read the rest, unless it
   * charges for the whole response anyway.
   */
  clientDisconnected(): void {
    if (this.#over || this.#phase === 'draining') return;
    const { finished, awaitsUsage } = this.#tap;
    if (this.#flow.ending && finished && !awaitsUsage) this.#complete();
    else if (this.#isWorkedOn && this.#options.drains?.take() === true) {
      this.#hasDrainSlot = true;
      this.#drain(drainMs);
    } else if (awaitsUsage) this.#drain(lastUsageMs);
    else this.#leave();
  }

  tick(now: number): void {
    const { client, deadline, clientDeadline, sink, keepAliveMs } = this.#options;
    if (this.#phase === 'draining') {
      if (now >= Math.min(deadline, this.#drainUntil)) this.#leave();
      return;
    }
    this.#quietSince ??= now;
    if (now - this.#quietSince >= graceMs && this.#isWhole) {
      this.#completeEarly();
      return;
    }
    if (now >= deadline) {
      this.#cut('deadline');
      return;
    }
    if (now >= clientDeadline && !sink.opened) {
      const error = new GatewayError('upstream_abnormal');
      // The client has its error in time; what it asked for is paid like that of a client that leaves.
      if (this.#isWorkedOn) client.fail(error);
      else this.#endWith(error, 'client-deadline');
      return;
    }
    const isResponse = this.#phase === 'answering' || this.#unstreamed?.mayAnswer === true;
    const holding = isResponse && this.#flow.holding;
    if ((holding && now - this.#headAt >= headHoldMs) || sink.inDoubt) this.#flow.open();
    if (sink.opened) sink.keepAlive(now, keepAliveMs);
    else if (now - sink.lastWriteAt >= keepAliveMs) {
      // The client, or something on the way to it, would take a longer silence for a dead connection.
      this.#flow.open();
      sink.keepAlive(now, 0);
    }
  }

  end(error: GatewayError): void {
    if (this.#over) return;
    if (this.#phase === 'draining') this.#leave();
    else if (this.#flow.ending && this.#tap.finished) this.#completeEarly();
    else this.#endWith(error, 'ended');
  }

  #judge(): void {
    this.#phase = 'judging';
    this.#unstreamed = new UnstreamedResponse(this.#status, this.upstreamHeaders);
  }

  /**
   * Some servers declare a wrong content type, or do not send the stream that was requested: the first bytes decide.
   */
  #begin(chunk: Buffer): void {
    this.#begun = true;
    if (this.#phase === 'answering' && beginsAsJson(chunk)) this.#judge();
    else if (this.#unstreamed?.mayAnswer === true && beginsAsEvents(chunk)) {
      this.#unstreamed = null;
      this.#phase = 'answering';
    }
  }

  #read(chunk: Buffer): void {
    try {
      this.#reader.push(chunk);
    } catch (error) {
      if (!(error instanceof EventTooLarge)) throw error;
      this.#cut('event-too-large');
      return;
    }
    this.#flow.flush();
    const spending = this.#spending;
    if (spending === null || this.#tap.outputBytes < spending.next) return;
    if (this.#phase === 'answering') spending.look();
  }

  /** What has come costs more than is left. A response that is complete is not taken away. */
  #overspend(error: GatewayError): void {
    if (this.#phase !== 'answering' || this.#flow.ending || !this.#options.sink.shown) return;
    this.#endWith(error, 'overspent');
  }

  /**
   * Turns a complete response into the requested stream. Returns false if it is something else, and the attempt is
   * over.
   */
  #readUnstreamed(response: UnstreamedResponse): boolean {
    const { wire, context } = this.#options;
    const read = response.mayAnswer
      ? response.stream(wire, context.upstreamModel)
      : response.judge();
    if (!Buffer.isBuffer(read)) {
      this.#finish(read);
      return false;
    }
    this.#unstreamed = null;
    this.#phase = 'answering';
    this.#read(read);
    return !this.#over;
  }

  /** The same in a thread. The resulting events are written in pieces, so that other clients are served in between. */
  async #readElsewhere(response: UnstreamedResponse): Promise<void> {
    try {
      this.#reading = this.#options.large.stream(response.body);
      const events = await this.#reading.result;
      this.#reading = null;
      if (this.#over) return;
      this.#unstreamed = null;
      this.#phase = 'answering';
      for (let at = 0; at < events.length && !this.#over; at += turnBytes) {
        this.#read(events.subarray(at, at + turnBytes));
        await nextTurn();
      }
      if (!this.#over) this.#endOfEvents();
    } catch (error) {
      this.#reading = null;
      this.#failElsewhere(response, error);
    }
  }

  #failElsewhere(response: UnstreamedResponse, error: unknown): void {
    // If the attempt is over already, these calls change nothing.
    if (error instanceof UnreadableResponse) this.#finish(response.unreadable(error));
    else if (error instanceof ResponseTooComplex) this.#cut('too-complex');
    else if (error instanceof GatewayError) this.#endWith(error, 'ended');
    else {
      this.#options.onDefect(error);
      this.#cut('defect');
    }
  }

  get #over(): boolean {
    return this.#phase === 'over';
  }

  /** Nothing that the client or the row needs is still to come. */
  get #isWhole(): boolean {
    return this.#phase === 'answering' && this.#tap.finished && !this.#tap.awaitsUsage;
  }

  /** The upstream may have begun to work on the response. */
  get #isWorkedOn(): boolean {
    return this.#phase !== 'judging' && this.#call.sent;
  }

  #onEvent(event: StreamEvent): void {
    if (this.#phase !== 'answering') {
      this.#onUnseenEvent(event);
      return;
    }
    const flags = this.#tap.inspect(event);
    this.#takeGiven();
    if ((flags & verdict.failed) !== 0) {
      this.#flow.flush();
      this.#fail(this.#tap.failure);
      return;
    }
    const bytes =
      (flags & verdict.drop) !== 0
        ? null
        : (flags & verdict.replace) !== 0
          ? this.#tap.replacement
          : event.raw;
    if (!this.#flow.add(bytes, flags)) this.#cut('head-too-large');
    else if (this.#flow.ending && this.#tap.closed) this.#completeEarly();
  }

  /** Records the ids in an event. This must happen before the client sees them. */
  #takeGiven(): void {
    const { given } = this.#tap;
    if (given === undefined || given.length === this.#taken) return;
    this.#options.takeGiven?.(given.slice(this.#taken));
    this.#taken = given.length;
  }

  #show(bytes: Buffer): void {
    const { sink, onShown } = this.#options;
    const shownBefore = sink.shown;
    sink.show(bytes, this.#call);
    if (!shownBefore && sink.shown) onShown();
  }

  #onUnseenEvent(event: StreamEvent): void {
    if (this.#phase !== 'draining') return;
    const flags = this.#tap.inspect(event);
    this.#takeGiven();
    const isOver = this.#tap.closed || (flags & verdict.failed) !== 0;
    // A drain that awaits only the usage has no slot: it ends when more content comes, because nobody pays for content
    // that the client has not seen begin.
    if (isOver || !(this.#hasDrainSlot || this.#tap.awaitsUsage)) this.#leave();
  }

  #drain(milliseconds: number): void {
    this.#phase = 'draining';
    this.#drainUntil = this.#options.monotonic() + milliseconds;
    this.#flow.takeHeld();
    // It may be paused because the client did not read.
    this.#call.resume();
  }

  #leave(): void {
    this.#finishLeft();
    this.#call.abort();
  }

  #finishLeft(): void {
    const hasFailed = this.#options.client.failedWith !== null;
    this.#finish(disconnectedStream(this.#soFar(), hasFailed));
  }

  /** @param error as in an error body of the upstream's protocol */
  #fail(error: unknown): void {
    const failure = failureOfResponse(null, this.upstreamHeaders, error);
    this.#finish(failedStream(this.#soFar(), failure));
    this.#call.abort();
  }

  #cut(result: string): void {
    this.#finish(cutStream(this.#soFar(), result));
    this.#call.abort();
  }

  #endWith(error: GatewayError, result: string): void {
    this.#finish(endedStream(this.#soFar(), error, result));
    this.#call.abort();
  }

  #finishJudged(response: UnstreamedResponse): void {
    this.#finish(response.judge());
    this.#call.abort();
  }

  /** Completes the response although the upstream has not ended the body. */
  #completeEarly(): void {
    const { ticker, monotonic } = this.#options;
    this.#complete();
    this.#endOfBody = new EndOfBody(this.#call, ticker, monotonic());
  }

  #complete(): void {
    const { usage, unknownEnding = null } = this.#tap;
    const { name } = this.#options.wire;
    if (unknownEnding !== null && !isWellEnded(name, unknownEnding, usage)) {
      this.#fail(brokenEndingError(unknownEnding));
      return;
    }
    const rest: (Buffer | string)[] = this.#flow.takeHeld();
    const tap = this.#tap;
    let completion;
    try {
      completion = tap.completion();
    } catch (error) {
      // The caller handles the error. A second call would throw again, so the attempt ends here.
      this.#cut('defect');
      throw error;
    }
    if (completion !== '') rest.push(completion);
    this.#finish({
      kind: 'complete',
      status: this.#status,
      response: {
        usage: unknownEnding === null ? usage : withUnknownEnding(usage, unknownEnding),
        tap,
        body: rest,
      },
    });
  }

  #soFar(): StreamSoFar {
    const { sink, monotonic } = this.#options;
    const heldUp = sink.heldUpFor(monotonic()) >= heldUpMs;
    const { sent } = this.#call;
    return { status: this.#status, sent, tap: this.#tap, shown: sink.shown, heldUp };
  }

  #finish(outcome: StreamOutcome): void {
    if (this.#over) return;
    if (this.#hasDrainSlot) this.#options.drains?.release();
    this.#phase = 'over';
    this.#reading?.abandon();
    this.#unstreamed = null;
    this.#ticks.end();
    this.#resolve(outcome);
  }
}

function isEventStream(headers: UpstreamHeaders): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && /^text\/event-stream\b/i.test(type);
}
