import { CollectedBody } from '#bodies/index.ts';
import { beginsAsEvents, beginsAsJson } from '#body-work/index.ts';
import { GatewayError } from '#errors/index.ts';
import { UnreadableResponse } from '#protocols/index.ts';
import type {
  UpstreamCall,
  UpstreamClient,
  UpstreamError,
  UpstreamHeaders,
  UpstreamListener,
} from '#upstream/index.ts';
import type { ClientResponse, ExchangeInput } from '../exchange.ts';
import type { DrainSlots } from '../overload/concurrency-gate.ts';
import type { Clock, Ticker, TickListener, TickRegistration } from '../ticker.ts';
import {
  type AttemptFailure,
  brokenAttempt,
  errorBodyLimit,
  failureOfResponse,
  isError,
  type OutcomeOf,
  parseJson,
  reachOf,
} from './outcome.ts';
import type { ReceivedAttempt, Receiver } from './receiver.ts';
import type { AttemptedRequest } from './request-plan.ts';
import { type ReadingResponse, ResponseTooComplex, UnchargedResponse } from './response-reader.ts';

/** In bytes. Memory is reserved for larger responses, which a small request can ask for. */
const smallResponse = 1024 * 1024;
/** How long the usage is awaited if the client left after the last content: it is about to come. */
const lastUsageMs = 500;
/**
 * How long an upstream may take to end its body after a response that is complete. Usually only the last chunk is
 * missing, and then the connection can be kept; after that, keeping it is not worth it.
 */
const bodyEndMs = 2_000;

/** What an attempt needs of the gateway. */
export interface AttemptParts {
  readonly upstream: UpstreamClient;
  readonly clock: Clock;
  readonly ticker: Ticker;
  readonly drains: DrainSlots;
  /** Called with defects of the gateway and the exchange that they affect. */
  readonly onUnexpectedError: (error: unknown, exchangeId: string) => void;
}

/** What an attempt knows of its exchange. */
export interface AttemptInput extends Pick<ExchangeInput, 'id'> {
  readonly client: Pick<ClientResponse, 'disconnected' | 'fail' | 'failedWith'>;
}

/** A method, so that an attempt with some of the possible results counts as one with all of them. */
interface Resolving<Outcome> {
  resolve(outcome: Outcome): void;
}

/**
 * One try of an exchange: how it reacts to the upstream, the client and the clock, and how it ends, which it does once.
 * Its receiver knows the form of the response; what it uses of the attempt is described there (`ReceivedAttempt`).
 */
export class Attempt<Result, Seen>
  implements ReceivedAttempt<Result, Seen>, UpstreamListener, TickListener
{
  readonly outcome: Promise<OutcomeOf<Result, Seen>>;
  upstreamHeaders: UpstreamHeaders = {};
  status = 0;
  /** The upstream's own words about its failure, as they came; null: it had none. */
  words: string | null = null;
  readonly call: UpstreamCall;
  readonly startedAt: number;
  over = false;
  isLeft = false;
  hasDrainSlot = false;
  readonly #receiver: Receiver<Result, Seen>;
  readonly #parts: AttemptParts;
  readonly #input: AttemptInput;
  readonly #onLeave: AttemptedRequest<Result, Seen>['onLeave'];
  readonly #memory: AttemptedRequest<Result, Seen>['memory'];
  readonly #onAnswered: AttemptedRequest<Result, Seen>['onAnswered'];
  readonly #deadline: number;
  readonly #clientDeadline: number;
  readonly #ticks: TickRegistration;
  /** An error or a response that comes whole; null if it is taken as it comes. */
  #body: CollectedBody | null = null;
  /** The first bytes of the body have come. */
  #isBegun = false;
  /** The body has ended, so its connection is free again. */
  #isEnded = false;
  /** A thread is reading a complete response. */
  #reading: Pick<ReadingResponse<unknown>, 'abandon'> | null = null;
  /** In bytes of the response. */
  #roomFor: number;
  /** The response of a client that has left is read until this monotonic time; infinite if to its end. */
  #drainUntil = Number.POSITIVE_INFINITY;
  /** The body of a complete response may end until this monotonic time; null: it has ended, or is not waited for. */
  #bodyEndUntil: number | null = null;
  #resolve: Resolving<OutcomeOf<Result, Seen>>['resolve'] = () => {};

  /**
   * @param request is not kept: it has the text
   * @param deadline the monotonic time after which the attempt is given up
   * @param clientDeadline the monotonic time until which the client waits for the response to begin
   */
  constructor(
    parts: AttemptParts,
    input: AttemptInput,
    request: AttemptedRequest<Result, Seen>,
    deadline: number,
    clientDeadline: number,
  ) {
    const { receiver } = request;
    this.#parts = parts;
    this.#input = input;
    this.#receiver = receiver;
    this.#onLeave = request.onLeave;
    this.#memory = request.memory;
    this.#onAnswered = request.onAnswered;
    this.#deadline = deadline;
    this.#clientDeadline = clientDeadline;
    this.startedAt = parts.clock.monotonic();
    this.#roomFor = request.reservedBytes ?? smallResponse;
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    receiver.attempt = this;
    this.#ticks = parts.ticker.add(this);
    this.call = parts.upstream.send(request.upstream, this);
  }

  get isDraining(): boolean {
    return this.isLeft && this.#onLeave !== 'finish';
  }

  onHead(status: number, headers: UpstreamHeaders): void {
    this.status = status;
    this.upstreamHeaders = headers;
    const { takes } = this.#receiver;
    if (takes === 'events' && this.isDraining) return;
    if (isError(status)) {
      this.#body = new CollectedBody();
      return;
    }
    this.#onAnswered?.();
    this.#receiver.begin?.();
    if (takes === 'whole' || (takes === 'events' && !isEventStream(headers))) {
      this.#body = new CollectedBody();
    }
  }

  onData(chunk: Buffer): void {
    if (this.over) return;
    if (!this.#isBegun && this.#receiver.takes === 'events') this.#begin(chunk);
    const body = this.#body;
    if (body === null) {
      this.#receiver.take?.(chunk);
      return;
    }
    body.add(chunk);
    if (!isError(this.status)) this.#receiver.check?.(body);
    // This much is enough to classify the error, and some bodies never end.
    else if (body.length >= errorBodyLimit) this.#judge(body);
  }

  /** Some servers declare a wrong content type, or do not stream what was requested: the first bytes decide. */
  #begin(chunk: Buffer): void {
    this.#isBegun = true;
    if (this.isDraining || isError(this.status)) return;
    if (beginsAsEvents(chunk)) this.#body = null;
    else if (beginsAsJson(chunk)) this.#body ??= new CollectedBody();
  }

  onEnd(): void {
    this.#isEnded = true;
    if (this.over) this.#ticks.end();
    else if (this.#body === null) this.#receiver.end?.();
    else if (isError(this.status)) this.#judge(this.#body);
    else this.#receiver.read?.(this.#body);
  }

  onBreak(error: UpstreamError): void {
    if (this.over) {
      this.#ticks.end();
      return;
    }
    if (this.#receiver.broke?.(error) === true) return;
    const { breakPoint, reason } = error;
    if (breakPoint !== 'started') {
      const stale = breakPoint === 'stale-connection';
      const reach = stale ? 'uncertain' : breakPoint;
      this.finish({ ...brokenAttempt(this.status, reach, reason), stale });
      return;
    }
    // Even if the body broke off, the head of an error response says what is wrong.
    const isJudged = this.#body !== null && reason !== 'defect' && isError(this.status);
    if (isJudged) this.#judge(this.#body!);
    else this.cut(reason);
  }

  /**
   * The client has closed its connection. The upstream is cancelled, because the rest would not be read, unless it
   * charges for the whole response anyway.
   * @param now the monotonic time
   */
  clientDisconnected(now = this.#parts.clock.monotonic()): void {
    if (this.over || this.isLeft) return;
    const receiver = this.#receiver;
    if (receiver.completes?.() === true) return;
    const { drains } = this.#parts;
    const onLeave = this.#onLeave;
    if (onLeave === 'finish' && this.call.isSent) this.#letGo();
    else if (onLeave === 'drain' && this.#isWorkedOn && drains.take()) {
      this.hasDrainSlot = true;
      this.#letGo(now + receiver.drainMs);
    } else if (receiver.awaitsUsage === true) this.#letGo(now + lastUsageMs);
    else this.leave();
  }

  #letGo(until = Number.POSITIVE_INFINITY): void {
    this.isLeft = true;
    this.#drainUntil = until;
    this.#receiver.letGo?.();
  }

  /**
   * The upstream may have begun to work on the response. Not on an error, or on what is not the stream that was asked
   * for.
   */
  get #isWorkedOn(): boolean {
    return this.call.isSent && (this.#receiver.takes !== 'events' || this.#body === null);
  }

  tick(now: number): void {
    if (this.over) {
      if (this.#bodyEndUntil !== null && now >= this.#bodyEndUntil) this.#hangUp();
      return;
    }
    const { client } = this.#input;
    const deadline = this.#deadline;
    if (client.disconnected) this.clientDisconnected(now);
    if (this.over) return;
    if (this.isDraining) {
      if (now >= Math.min(deadline, this.#drainUntil)) this.leave();
    } else if (this.#receiver.settle?.(now) === true) return;
    else if (now >= deadline) this.cut('deadline');
    else if (this.isLeft) return;
    else if (now < this.#clientDeadline || this.#receiver.isOpened === true)
      this.#receiver.tick?.(now);
    else {
      const error = new GatewayError('upstream_abnormal');
      // The client has its error in time; what it asked for is paid like that of a client that leaves.
      if (this.#isWorkedOn) client.fail(error);
      else this.endWith(error, 'client-deadline');
    }
  }

  end(error: GatewayError): void {
    if (this.over) this.#hangUp();
    else if (this.#receiver.stop?.() !== true) this.endWith(error, 'ended');
  }

  #hangUp(): void {
    this.#ticks.end();
    this.call.abort();
  }

  hasRoom(bytes: number, most: number, declaredBytes = 0): boolean {
    const memory = this.#memory;
    if (memory === undefined || bytes <= this.#roomFor) return true;
    this.#roomFor = Math.min(most, Math.max(2 * bytes, declaredBytes));
    if (memory.tryResponse(this.#roomFor)) return true;
    this.endWith(memory.refuse(), 'no-memory');
    memory.tryResponse(0);
    return false;
  }

  takeAsEvents(): void {
    this.#body = null;
  }

  fitRoom(bytes: number): void {
    if (this.#roomFor > smallResponse) this.#memory?.tryResponse(bytes);
  }

  async awaitReading<Value>(reading: ReadingResponse<Value>): Promise<Value> {
    this.#reading = reading;
    try {
      return await reading.result;
    } finally {
      this.#reading = null;
    }
  }

  failReading(error: unknown): void {
    const { status } = this;
    if (error instanceof UnreadableResponse) {
      const { body, usage } = error;
      const failure =
        body === null
          ? brokenAttempt(status, 'started', this.#receiver.unreadable ?? 'unreadable')
          : failureOfResponse(null, this.upstreamHeaders, body);
      this.fail({ ...failure, usage });
    } else if (error instanceof UnchargedResponse) {
      const { result, usage, units } = error;
      this.fail({ ...brokenAttempt(status, 'started', result), usage, units });
    } else if (error instanceof ResponseTooComplex) this.cut('too-complex');
    else if (error instanceof GatewayError) this.endWith(error, 'ended');
    else {
      this.#parts.onUnexpectedError(error, this.#input.id);
      this.cut('defect');
    }
  }

  #judge(body: CollectedBody): void {
    const json = parseJson(body.whole());
    this.fail(failureOfResponse(this.status, this.upstreamHeaders, json));
  }

  cut(result: string): void {
    const { madeUnits } = this.#receiver;
    const failure = brokenAttempt(this.status, reachOf(this.status, this.call.isSent), result);
    this.fail(madeUnits === undefined ? failure : { ...failure, units: madeUnits });
    this.call.abort();
  }

  endWith(error: GatewayError, result: string): void {
    const reach = reachOf(this.status, this.call.isSent);
    this.fail({ ...brokenAttempt(this.status, reach, result), final: error });
  }

  fail(failure: AttemptFailure): void {
    if (this.over) return;
    this.words = failure.words ?? null;
    this.finish(this.#receiver.failed?.(failure) ?? failure);
    if (!this.#isEnded) this.call.abort();
  }

  leave(): void {
    const { status } = this;
    const receiver = this.#receiver;
    this.finish({
      kind: 'disconnected',
      isSent: this.call.isSent,
      status: status === 0 ? null : status,
      isShown: receiver.isShown === true,
      seenResponse: receiver.seenResponse ?? null,
      ...(this.#input.client.failedWith !== null && { result: 'client-deadline' }),
    });
    if (!this.#isEnded) this.call.abort();
  }

  complete(response: Result, isEarly = false): void {
    if (isEarly && !this.over && !this.#isEnded)
      this.#bodyEndUntil = this.#parts.clock.monotonic() + bodyEndMs;
    this.finish({ kind: 'complete', status: this.status, response });
  }

  finish(outcome: OutcomeOf<Result, Seen>): void {
    if (this.over) return;
    this.over = true;
    this.#reading?.abandon();
    this.#body = null;
    this.#receiver.release?.(outcome);
    if (this.#bodyEndUntil === null) this.#ticks.end();
    if (this.hasDrainSlot) this.#parts.drains.release();
    this.#resolve(outcome);
  }
}

function isEventStream(headers: UpstreamHeaders): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && /^text\/event-stream\b/i.test(type);
}
