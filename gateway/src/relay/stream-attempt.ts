import { GatewayError } from '../errors/index.ts';
import {
  verdict,
  type Protocol,
  type StreamContext,
  type StreamEvent,
  type StreamTap,
} from '../protocols/index.ts';
import type { Classification, Provider } from '../providers/index.ts';
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
} from '../upstream/index.ts';
import type { DrainSlots } from './drain-slots.ts';
import { errorBodyLimit, failureOfAnswer, isError, parseJson } from './error-body.ts';
import { errorOfFailure } from './error-of-failure.ts';
import { EventRun } from './event-run.ts';
import { brokenAttempt, type AttemptFailure, type AttemptOutcome } from './outcome.ts';
import type { StreamSink } from './stream-sink.ts';
import type { Watch, Watched } from './watch.ts';

/** One event, or the events held back before the first content: more is not an answer of this protocol. */
const eventLimit = 8 * 1024 * 1024;
/** The client's head is held back for content no longer than this after the upstream's head. */
const headHoldMs = 10_000;
/** A left answer of an upstream that charges for all of it is read on for so long, to learn how much that is. */
const drainMs = 60_000;
/** The answer was whole but for its usage when the client left: that is on its way, and is waited for so long. */
const lastUsageMs = 500;
/** A client that keeps the upstream waiting for so long is why the rest never came. */
const heldUpMs = 5_000;
/** After the terminator an upstream may take so long to end its body; then its connection is not worth keeping. */
const endOfBodyMs = 2_000;

export interface StreamAttemptOptions {
  readonly upstream: UpstreamClient;
  readonly request: UpstreamRequest;
  readonly protocol: Pick<Protocol, 'createStreamTap'>;
  readonly provider: Provider;
  readonly context: StreamContext;
  readonly sink: StreamSink;
  /** Sent with the head when this attempt opens the answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly watch: Watch;
  /** Where the answer is read on after its client has left; null: the upstream is cancelled at once. */
  readonly drains: DrainSlots | null;
  readonly monotonic: () => number;
  readonly keepAliveMs: number;
  /** Monotonic time after which the attempt is given up. */
  readonly deadline: number;
  /** Monotonic time until which the client waits for the head. */
  readonly clientDeadline: number;
  /** Told once, when the first content arrives. */
  readonly onFirstContent: () => void;
}

type Phase =
  /** No head of the upstream yet. */
  | 'waiting'
  /** An error answer, or something that is no stream: read to its end and judged. */
  | 'judging'
  /** Events without content are held back: failover is still possible. */
  | 'holding'
  /** Events go to the client as they come. */
  | 'flowing'
  /** The success terminator has come: the rest waits for the journal. */
  | 'ending'
  /** The client has left, and the rest is read for its usage alone. */
  | 'draining'
  | 'over';

/** One try of a streamed exchange. */
export class StreamAttempt implements UpstreamListener, Watched {
  readonly outcome: Promise<AttemptOutcome>;
  upstreamHeaders: UpstreamHeaders = {};
  readonly #options: StreamAttemptOptions;
  readonly #tap: StreamTap;
  readonly #reader: EventStreamReader;
  readonly #run: EventRun;
  readonly #call: UpstreamCall;
  #phase: Phase = 'waiting';
  #status = 0;
  #headAt = 0;
  /** Before `flowing`: the events held back. In `ending`: what the client gets after the commit. In `judging`: the body. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** `draining` ends at this monotonic time. */
  #drainUntil = 0;
  #hasDrainSlot = false;
  /** Complete, but the upstream has not ended its body: the connection is given up at this monotonic time. */
  #giveUpAt: number | null = null;
  #resolve: (outcome: AttemptOutcome) => void = () => {};

  constructor(options: StreamAttemptOptions) {
    this.#options = options;
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#tap = options.protocol.createStreamTap(options.context);
    this.#reader = createEventStreamReader({
      maxEventBytes: eventLimit,
      onEvent: (event) => this.#onEvent(event),
    });
    this.#run = new EventRun(options.sink.framing.verbatim, (bytes) =>
      options.sink.show(bytes, this.#call),
    );
    options.watch.add(this);
    this.#call = options.upstream.send(options.request, this);
  }

  onHead(status: number, headers: UpstreamHeaders): void {
    this.#status = status;
    this.upstreamHeaders = headers;
    this.#headAt = this.#options.monotonic();
    if (this.#phase === 'draining') return;
    this.#phase = status === 200 && isEventStream(headers) ? 'holding' : 'judging';
  }

  onData(chunk: Buffer): void {
    if (this.#phase === 'judging') {
      this.#hold(chunk);
      // Enough to judge it by; some bodies never end.
      if (this.#heldBytes >= errorBodyLimit) this.#finishJudged();
      return;
    }
    try {
      this.#reader.push(chunk);
    } catch (error) {
      if (!(error instanceof EventTooLarge)) throw error;
      this.#break('event-too-large');
      return;
    }
    this.#run.flush();
  }

  onEnd(): void {
    if (this.#over) {
      this.#options.watch.remove(this);
      return;
    }
    if (this.#phase === 'judging') {
      this.#finish(this.#judge());
      return;
    }
    this.#reader.end();
    this.#run.flush();
    if (this.#phase === 'draining') this.#finishLeft();
    if (this.#over) return;
    // A clean close counts only when the protocol says the answer is whole; a quiet end is a failure.
    if (this.#tap.finished) this.#complete();
    else this.#break('no-terminator');
  }

  onBreak(error: UpstreamError): void {
    if (this.#over) {
      this.#options.watch.remove(this);
      return;
    }
    if (this.#phase === 'draining') {
      this.#finishLeft();
      return;
    }
    if (error.breakPoint === 'started') {
      // The head of an error answer says what is wrong, whatever becomes of its body.
      if (isError(this.#status)) this.#finishJudged();
      else this.#break(error.reason);
      return;
    }
    const stale = error.breakPoint === 'stale-connection';
    const attemptClass = stale ? 'uncertain' : error.breakPoint;
    this.#finish({ ...brokenAttempt(this.#status, attemptClass, error.reason), stale });
  }

  /**
   * The client has closed its connection: nobody will read the rest, so the upstream stops working, unless it charges
   * for the whole answer anyway.
   */
  clientLeft(): void {
    if (this.#over || this.#phase === 'draining') return;
    if (this.#phase === 'ending' && this.#tap.finished) {
      this.#complete();
      return;
    }
    if (this.#phase !== 'judging' && this.#options.drains?.take() === true) {
      this.#hasDrainSlot = true;
      this.#drain(drainMs);
      return;
    }
    if (this.#tap.finished && this.#tap.usage === null) {
      this.#drain(lastUsageMs);
      return;
    }
    this.#finishLeft();
    this.#call.abort();
  }

  #drain(milliseconds: number): void {
    this.#phase = 'draining';
    this.#drainUntil = this.#options.monotonic() + milliseconds;
    this.#takeHeld();
    // It may have been waiting for the client to read.
    this.#call.resume();
  }

  #finishLeft(): void {
    const { usage, outputBytes, finished } = this.#tap;
    this.#finish({
      kind: 'left',
      asked: this.#call.sent,
      status: this.#status === 0 ? null : this.#status,
      usage,
      outputBytes,
      whole: finished,
      shown: this.#options.sink.shown,
    });
  }

  tick(now: number): void {
    const { deadline, clientDeadline, sink, keepAliveMs, headers } = this.#options;
    if (this.#over) {
      if (this.#giveUpAt !== null && now >= this.#giveUpAt) this.#release();
      return;
    }
    if (this.#phase === 'draining') {
      if (now >= Math.min(deadline, this.#drainUntil)) this.#leaveDraining();
      return;
    }
    if (now >= deadline) {
      this.#break('deadline');
      return;
    }
    if (now >= clientDeadline && !sink.opened) {
      this.#endWith(new GatewayError('upstream_abnormal'), 'client-deadline');
      return;
    }
    const heldLongEnough = this.#phase === 'holding' && now - this.#headAt >= headHoldMs;
    if (heldLongEnough || sink.inDoubt) sink.open(headers);
    sink.keepAlive(now, keepAliveMs);
  }

  end(error: GatewayError): void {
    if (this.#over) this.#release();
    else if (this.#phase === 'draining') this.#leaveDraining();
    else if (this.#phase === 'ending' && this.#tap.finished) this.#completeEarly();
    else this.#endWith(error, 'ended');
  }

  #leaveDraining(): void {
    this.#finishLeft();
    this.#call.abort();
  }

  get #over(): boolean {
    return this.#phase === 'over';
  }

  #onEvent(event: StreamEvent): void {
    if (this.#over) return;
    const flags = this.#tap.inspect(event);
    if (this.#phase === 'draining') {
      if (this.#tap.closed || (flags & verdict.failed) !== 0) this.#leaveDraining();
      return;
    }
    if ((flags & verdict.failed) !== 0) {
      this.#run.flush();
      this.#upstreamFailed();
      return;
    }
    const bytes =
      (flags & verdict.drop) !== 0
        ? null
        : (flags & verdict.replace) !== 0
          ? this.#tap.replacement
          : event.raw;
    if (this.#phase === 'flowing' && (flags & verdict.terminal) === 0) {
      if (bytes !== null) this.#run.add(bytes);
      return;
    }
    this.#beforeOrAfterFlow(bytes, flags);
  }

  #beforeOrAfterFlow(bytes: Buffer | null, flags: number): void {
    if ((flags & verdict.content) !== 0) this.#options.onFirstContent();
    if ((flags & verdict.terminal) !== 0) {
      this.#run.flush();
      this.#phase = 'ending';
    }
    if (bytes !== null && !this.#hold(bytes)) return;
    if (this.#phase === 'ending') {
      if (this.#tap.closed) this.#completeEarly();
      return;
    }
    if ((flags & verdict.content) !== 0) {
      this.#phase = 'flowing';
      this.#options.sink.open(this.#options.headers);
      for (const held of this.#takeHeld()) this.#run.add(held);
    }
  }

  /** The upstream said so itself, in an event of its protocol. */
  #upstreamFailed(): void {
    const { provider } = this.#options;
    const failure = failureOfAnswer(provider, null, this.upstreamHeaders, this.#tap.failure);
    if (this.#options.sink.shown) this.#brokenBy(failure);
    else this.#finish({ ...failure, status: this.#status, usage: this.#tap.usage });
    this.#call.abort();
  }

  /** The answer stopped without its protocol's ending. */
  #break(result: string): void {
    const attemptClass = this.#status === 0 ? 'uncertain' : 'started';
    const failure = brokenAttempt(this.#status, attemptClass, result);
    if (this.#options.sink.shown) this.#brokenBy(failure);
    else this.#finish({ ...failure, usage: this.#tap.usage });
    this.#call.abort();
  }

  /** Given up for a reason that no channel has caused. */
  #endWith(error: GatewayError, result: string): void {
    if (this.#options.sink.shown) this.#brokenWith(error, result, null);
    else {
      const attemptClass = this.#status === 0 ? 'uncertain' : 'started';
      this.#finish({ ...brokenAttempt(this.#status, attemptClass, result), final: error });
    }
    this.#call.abort();
  }

  #brokenBy(failure: AttemptFailure): void {
    this.#brokenWith(errorOfFailure(failure, null), failure.result, failure.classification);
  }

  #brokenWith(error: GatewayError, result: string, classification: Classification | null): void {
    const tap = this.#tap;
    const { usage } = tap;
    const status = this.#status;
    const heldUp = this.#options.sink.heldUpFor(this.#options.monotonic()) >= heldUpMs;
    this.#finish({ kind: 'broken', status, error, classification, tap, usage, result, heldUp });
  }

  /** Nothing more is awaited although the body goes on: usually just its last chunk is still on the way. */
  #completeEarly(): void {
    this.#complete();
    this.#giveUpAt = this.#options.monotonic() + endOfBodyMs;
    this.#options.watch.add(this);
  }

  #release(): void {
    this.#options.watch.remove(this);
    this.#call.abort();
  }

  #complete(): void {
    const rest: (Buffer | string)[] = this.#takeHeld();
    const completion = this.#tap.completion();
    if (completion !== '') rest.push(completion);
    const tap = this.#tap;
    this.#finish({ kind: 'complete', status: this.#status, usage: tap.usage, tap, body: rest });
  }

  #finishJudged(): void {
    this.#finish(this.#judge());
    this.#call.abort();
  }

  #judge(): AttemptFailure {
    const body = parseJson(Buffer.concat(this.#held));
    if (!isError(this.#status)) return brokenAttempt(this.#status, 'started', 'not-a-stream');
    return failureOfAnswer(this.#options.provider, this.#status, this.upstreamHeaders, body);
  }

  #hold(bytes: Buffer): boolean {
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > 2 * eventLimit) {
      this.#break('head-too-large');
      return false;
    }
    this.#held.push(bytes);
    return true;
  }

  #takeHeld(): Buffer[] {
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    return held;
  }

  #finish(outcome: AttemptOutcome): void {
    if (this.#over) return;
    if (this.#hasDrainSlot) this.#options.drains?.release();
    this.#phase = 'over';
    this.#options.watch.remove(this);
    this.#resolve(outcome);
  }
}

function isEventStream(headers: UpstreamHeaders): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && /^text\/event-stream\b/i.test(type);
}
