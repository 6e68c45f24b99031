import { CollectedBody } from '#bodies/index.ts';
import { GatewayError } from '#errors/index.ts';
import { UnreadableResponse } from '#protocols/index.ts';
import type {
  UpstreamCall,
  UpstreamClient,
  UpstreamError,
  UpstreamHeaders,
  UpstreamListener,
  UpstreamRequest,
} from '#upstream/index.ts';
import type { ClientResponse } from '../exchange/client-response.ts';
import type { DrainSlots } from '../exchange/drain-slots.ts';
import type { RequestMemory } from '../exchange/input.ts';
import type { Ticker, TickListener, TickRegistration } from '../exchange/ticker.ts';
import {
  ResponseTooComplex,
  UnchargedResponse,
  type CollectingReader,
  type ResponseCollector,
  type ResponseReader,
  type ReadingResponse,
} from './response-reader.ts';
import { errorBodyLimit, failureOfResponse, isError, parseJson } from './error-body.ts';
import {
  brokenAttempt,
  reachOf,
  type AttemptFailure,
  type CompleteAttempt,
  type DisconnectedAttempt,
} from './outcome.ts';

/** How long a response is read after its client has left: it is charged anyway, and its row needs the usage. */
const drainMs = 120_000;

/** In bytes. Memory is reserved for larger responses, which a small request can ask for. */
const smallResponse = 1024 * 1024;

/** In bytes. */
const largeResponse = 8 * 1024 * 1024;

/** How an attempt ended if the client gets its response in one piece or not at all. */
export type BufferedOutcome<Result> =
  | AttemptFailure
  | CompleteAttempt<Result>
  | DisconnectedAttempt<never>;

export interface BufferedAttemptOptions<Result> {
  readonly upstream: UpstreamClient;
  readonly client: Pick<ClientResponse, 'disconnected' | 'fail' | 'failedWith'>;
  readonly reader: ResponseReader<Result> | CollectingReader<Result>;
  readonly ticker: Ticker;
  /** Null: the response is read to its end, or to the deadline, if the client leaves. */
  readonly drains: DrainSlots | null;
  /** Monotonic time after which the attempt is given up. */
  readonly deadline: number;
  /** Monotonic time until which the client waits. */
  readonly clientDeadline: number;
  /** Limits the memory for a large response; absent: it is not limited. */
  readonly memory?: RequestMemory | undefined;
  /** In bytes of the response: what `memory` already holds for it. */
  readonly reserved?: number;
  /** Called when a response without an error begins. If such an attempt fails, a costly request is not sent again. */
  readonly onAnswered?: () => void;
  /** Called with a defect of the gateway that no caller would see. */
  readonly onDefect: (error: unknown) => void;
}

/**
 * One try of an exchange that is not streamed. Once the request has been sent, the attempt continues even if the client
 * leaves, because the upstream charges for the response.
 */
export class BufferedAttempt<Result> implements UpstreamListener, TickListener {
  readonly outcome: Promise<BufferedOutcome<Result>>;
  upstreamHeaders: UpstreamHeaders = {};
  readonly #options: BufferedAttemptOptions<Result>;
  readonly #call: UpstreamCall;
  #body = new CollectedBody();
  readonly #ticks: TickRegistration;
  /** Takes the response piece by piece; null if it is kept in `#body`. */
  #collector: ResponseCollector<Result> | null = null;
  #status = 0;
  /** In bytes of the response. */
  #roomFor: number;
  #over = false;
  /** A thread is reading the complete response. */
  #reading: ReadingResponse<Result> | null = null;
  /** The client has left; the response is awaited until this monotonic time. */
  #drainUntil: number | null = null;
  #resolve: (outcome: BufferedOutcome<Result>) => void = () => {};

  /** @param request is not kept. */
  constructor(request: UpstreamRequest, options: BufferedAttemptOptions<Result>) {
    this.#options = options;
    this.#roomFor = options.reserved ?? smallResponse;
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#ticks = options.ticker.add(this);
    this.#call = options.upstream.send(request, this);
  }

  onHead(status: number, headers: UpstreamHeaders): void {
    this.#status = status;
    this.upstreamHeaders = headers;
    if (isError(status)) return;
    const { reader, onAnswered } = this.#options;
    onAnswered?.();
    if (!('collect' in reader)) return;
    this.#collector = reader.collect();
    this.#collector.onDrain = () => this.#call.resume();
  }

  onData(chunk: Buffer): void {
    if (this.#collector !== null) {
      if (!this.#collector.add(chunk)) this.#call.pause();
      if (this.#collector.length > this.#options.reader.largest) this.#endTooLarge();
      return;
    }
    this.#body.add(chunk);
    if (this.#body.length > this.#options.reader.largest) {
      this.#endTooLarge();
      return;
    }
    if (!this.#hasRoom()) return;
    // This much is enough to classify the error, and some bodies never end.
    if (isError(this.#status) && this.#body.length >= errorBodyLimit) {
      this.#call.abort();
      this.#finish(this.#judge());
    }
  }

  #endTooLarge(): void {
    this.#call.abort();
    const failure = brokenAttempt(this.#status, 'started', 'answer-too-large');
    const { sizeIsRequested = false } = this.#options.reader;
    this.#finish(
      sizeIsRequested ? { ...failure, final: new GatewayError('upstream_abnormal') } : failure,
    );
  }

  /** Reserves memory as the response grows. False: there is none, and the attempt has ended. */
  #hasRoom(): boolean {
    const { memory, reader } = this.#options;
    const { length } = this.#body;
    if (memory === undefined || length <= this.#roomFor) return true;
    // All of it at once where its length is declared: several that are half read would refuse each other.
    const declared = Number(this.upstreamHeaders['content-length']);
    this.#roomFor = Math.min(reader.largest, Math.max(2 * length, declared || 0));
    if (memory.tryResponse(this.#roomFor)) return true;
    this.#endWith(memory.refuse(), 'no-memory');
    this.#body = new CollectedBody();
    memory.tryResponse(0);
    return false;
  }

  onEnd(): void {
    if (isError(this.#status)) {
      this.#finish(this.#judge());
      return;
    }
    if (this.#collector !== null) {
      const collector = this.#collector;
      this.#reading = { result: collector.finish(), abandon: () => collector.release() };
      void this.#awaitReading(this.#reading);
      return;
    }
    const { memory } = this.#options;
    if (this.#roomFor > smallResponse) memory?.tryResponse(this.#body.length);
    if (this.#body.length < largeResponse) this.#readWhole(this.#body.whole());
    else void this.#readInTurns();
  }

  /** A copy of tens of megabytes would hold up everybody else. */
  async #readInTurns(): Promise<void> {
    try {
      const body = await this.#body.wholeInTurns();
      if (!this.#over) this.#readWhole(body);
    } catch (error) {
      this.#finish(this.#failedReading(error));
    }
  }

  #readWhole(body: Buffer): void {
    const reader = this.#options.reader as ResponseReader<Result>;
    this.#reading = reader.readInThread?.(body) ?? null;
    if (this.#reading === null) this.#finish(this.#read(reader, body));
    else void this.#awaitReading(this.#reading);
  }

  onBreak(error: UpstreamError): void {
    // Even if the body broke off, the head of an error response says what is wrong.
    if (error.breakPoint === 'started' && error.reason !== 'defect' && isError(this.#status)) {
      this.#finish(this.#judge());
      return;
    }
    const stale = error.breakPoint === 'stale-connection';
    const attemptClass = error.breakPoint === 'stale-connection' ? 'uncertain' : error.breakPoint;
    this.#finish({ ...brokenAttempt(this.#status, attemptClass, error.reason), stale });
  }

  tick(now: number): void {
    const { client, deadline, clientDeadline, drains } = this.#options;
    const isAwaited = drains === null && this.#call.sent;
    if (client.disconnected && !isAwaited) {
      if (this.#drainUntil === null && this.#call.sent && drains?.take() === true) {
        this.#drainUntil = Math.min(deadline, now + drainMs);
      }
      if (this.#drainUntil !== null && now < this.#drainUntil) return;
      this.#call.abort();
      this.#finish({
        kind: 'disconnected',
        asked: this.#call.sent,
        status: this.#status === 0 ? null : this.#status,
        shown: false,
        seen: null,
        ...(client.failedWith !== null && { result: 'client-deadline' }),
      });
    } else if (now >= clientDeadline && this.#call.sent) {
      // The client has its error in time; what it asked for is paid like that of a client that leaves.
      client.fail(new GatewayError('upstream_abnormal'));
    } else if (now >= clientDeadline) {
      this.#endWith(new GatewayError('upstream_abnormal'), 'client-deadline');
    } else if (now >= deadline) {
      this.#call.abort();
      this.#finish(brokenAttempt(this.#status, this.#attemptClass, 'deadline'));
    }
  }

  end(error: GatewayError): void {
    this.#endWith(error, 'ended');
  }

  #endWith(error: GatewayError, result: string): void {
    this.#call.abort();
    this.#finish({ ...brokenAttempt(this.#status, this.#attemptClass, result), final: error });
  }

  get #attemptClass(): AttemptFailure['class'] {
    return reachOf(this.#status, this.#call.sent);
  }

  #judge(): AttemptFailure {
    const body = parseJson(this.#body.whole());
    return failureOfResponse(this.#status, this.upstreamHeaders, body);
  }

  #read(reader: ResponseReader<Result>, body: Buffer): BufferedOutcome<Result> {
    try {
      return this.#complete(reader.read(body));
    } catch (error) {
      if (error instanceof UnchargedResponse) return this.#uncharged(error);
      if (error instanceof UnreadableResponse) return this.#unreadable(error);
      throw error;
    }
  }

  async #awaitReading(reading: ReadingResponse<Result>): Promise<void> {
    try {
      const response = await reading.result;
      this.#reading = null;
      if (!this.#over) this.#finish(this.#complete(response));
    } catch (error) {
      this.#reading = null;
      // If the attempt is over, its outcome is ignored, but a defect of the gateway is reported in any case.
      this.#finish(this.#failedReading(error));
    }
  }

  #failedReading(error: unknown): AttemptFailure {
    const status = this.#status;
    if (error instanceof UnreadableResponse) return this.#unreadable(error);
    if (error instanceof UnchargedResponse) return this.#uncharged(error);
    if (error instanceof ResponseTooComplex) return brokenAttempt(status, 'started', 'too-complex');
    if (error instanceof GatewayError) {
      return { ...brokenAttempt(status, 'started', 'ended'), final: error };
    }
    this.#options.onDefect(error);
    return brokenAttempt(status, 'started', 'defect');
  }

  #complete(response: Result): BufferedOutcome<Result> {
    this.#options.reader.accept?.(response);
    return { kind: 'complete', status: this.#status, response };
  }

  #unreadable({ body, usage }: UnreadableResponse): AttemptFailure {
    const failure =
      body === null
        ? brokenAttempt(this.#status, 'started', 'unreadable')
        : failureOfResponse(null, this.upstreamHeaders, body);
    return { ...failure, usage };
  }

  #uncharged({ result, usage, units }: UnchargedResponse): AttemptFailure {
    return { ...brokenAttempt(this.#status, 'started', result), usage, units };
  }

  #finish(outcome: BufferedOutcome<Result>): void {
    if (this.#over) return;
    this.#over = true;
    this.#reading?.abandon();
    if (outcome.kind !== 'complete') this.#collector?.release();
    this.#ticks.end();
    if (this.#drainUntil !== null) this.#options.drains?.release();
    this.#resolve(outcome);
  }
}
