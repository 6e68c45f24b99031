import { CollectedBody } from '#bodies/index.ts';
import { largestAnswer, readWholeAnswer, type WireProtocol } from '#body-work/index.ts';
import { GatewayError } from '#errors/index.ts';
import {
  UnreadableAnswer,
  type AnswerEcho,
  type Protocol,
  type WireResponse,
} from '#protocols/index.ts';
import type { Provider } from '#vendors/index.ts';
import type {
  UpstreamCall,
  UpstreamClient,
  UpstreamError,
  UpstreamHeaders,
  UpstreamListener,
  UpstreamRequest,
} from '#upstream/index.ts';
import type { ClientResponse } from '../client-response.ts';
import type { DrainSlots } from '../drain-slots.ts';
import {
  answerInThread,
  AnswerTooComplex,
  type LargeAnswers,
  type ReadingAnswer,
  type WholeAnswer,
} from '../large-answer.ts';
import type { TakeGiven } from '../state/given-names.ts';
import type { Watch, Watched, Watching } from '../watch.ts';
import { errorBodyLimit, failureOfAnswer, isError, parseJson } from './error-body.ts';
import { brokenAttempt, reachOf, type AttemptFailure, type AttemptOutcome } from './outcome.ts';

/** An answer that nobody waits for any more is read for so long: it is paid for, and its row tells the cost. */
const drainMs = 120_000;

export interface BufferedAttemptOptions {
  readonly upstream: UpstreamClient;
  readonly protocol: Pick<Protocol, 'readResponse'>;
  /** What the upstream speaks; null: it answers in no other form than was asked. */
  readonly wire: WireProtocol | null;
  readonly provider: Provider;
  readonly echo: AnswerEcho;
  readonly client: Pick<ClientResponse, 'left'>;
  /** Null where no answer is so large that another thread had to read it. */
  readonly large: LargeAnswers | null;
  /** Null where the answer's ids are not the upstream's. */
  readonly takeGiven: TakeGiven | null;
  readonly watch: Watch;
  readonly drains: DrainSlots;
  /** Monotonic time after which the attempt is given up. */
  readonly deadline: number;
  /** Monotonic time until which the client waits. */
  readonly clientDeadline: number;
  /** Told of a fault of ours that no call hears of. */
  readonly onDefect: (error: unknown) => void;
}

/** One try of a non-streamed exchange. A client that leaves does not stop it once it is sent: the answer is paid for. */
export class BufferedAttempt implements UpstreamListener, Watched {
  readonly outcome: Promise<AttemptOutcome>;
  upstreamHeaders: UpstreamHeaders = {};
  readonly #options: BufferedAttemptOptions;
  readonly #call: UpstreamCall;
  readonly #body = new CollectedBody();
  readonly #watching: Watching;
  #status = 0;
  #over = false;
  /** What a thread does with the answer, once that is whole. */
  #reading: ReadingAnswer<WholeAnswer> | null = null;
  /** The client was seen to have left: until this monotonic time the answer is waited for. */
  #drainUntil: number | null = null;
  #resolve: (outcome: AttemptOutcome) => void = () => {};

  /** @param request not kept. */
  constructor(request: UpstreamRequest, options: BufferedAttemptOptions) {
    this.#options = options;
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#watching = options.watch.add(this);
    this.#call = options.upstream.send(request, this);
  }

  onHead(status: number, headers: UpstreamHeaders): void {
    this.#status = status;
    this.upstreamHeaders = headers;
  }

  onData(chunk: Buffer): void {
    this.#body.add(chunk);
    if (this.#body.length > this.#limit) {
      this.#call.abort();
      this.#finish(brokenAttempt(this.#status, 'started', 'answer-too-large'));
      return;
    }
    // Enough to judge it by; some bodies never end.
    if (isError(this.#status) && this.#body.length >= errorBodyLimit) {
      this.#call.abort();
      this.#finish(this.#judge());
    }
  }

  onEnd(): void {
    if (isError(this.#status)) this.#finish(this.#judge());
    else if (this.#options.large === null || this.#body.length < answerInThread) {
      this.#finish(this.#read());
    } else void this.#readElsewhere(this.#options.large);
  }

  onBreak(error: UpstreamError): void {
    // The head of an error answer says what is wrong, whatever becomes of its body.
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
    if (client.left) {
      if (this.#drainUntil === null && this.#call.sent && drains.take()) {
        this.#drainUntil = Math.min(deadline, now + drainMs);
      }
      if (this.#drainUntil !== null && now < this.#drainUntil) return;
      this.#call.abort();
      this.#finish({
        kind: 'left',
        asked: this.#call.sent,
        status: this.#status === 0 ? null : this.#status,
        usage: null,
        outputBytes: 0,
        whole: false,
        shown: false,
      });
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
    return failureOfAnswer(this.#options.provider, this.#status, this.upstreamHeaders, body);
  }

  get #limit(): number {
    return this.#options.large === null ? answerInThread : largestAnswer;
  }

  #read(): AttemptOutcome {
    const { protocol, wire, echo } = this.#options;
    try {
      return this.#complete(readWholeAnswer(this.#body.whole(), wire, protocol, echo));
    } catch (error) {
      if (!(error instanceof UnreadableAnswer)) throw error;
      return this.#unreadable(error);
    }
  }

  async #readElsewhere(large: LargeAnswers): Promise<void> {
    try {
      this.#reading = large.whole(this.#body.whole());
      const { body, ...answer } = await this.#reading.result;
      this.#reading = null;
      if (!this.#over) this.#finish(this.#complete({ ...answer, body: body as Buffer }));
    } catch (error) {
      this.#reading = null;
      // Its outcome counts only while it is waited for; a fault of ours is told in any case.
      this.#finish(this.#failedElsewhere(error));
    }
  }

  #failedElsewhere(error: unknown): AttemptFailure {
    const status = this.#status;
    if (error instanceof UnreadableAnswer) return this.#unreadable(error);
    if (error instanceof AnswerTooComplex) return brokenAttempt(status, 'started', 'too-complex');
    if (error instanceof GatewayError) {
      return { ...brokenAttempt(status, 'started', 'ended'), final: error };
    }
    this.#options.onDefect(error);
    return brokenAttempt(status, 'started', 'defect');
  }

  #complete({
    body,
    usage,
    given,
    outputTokens = null,
  }: WireResponse & { readonly outputTokens?: number | null }): AttemptOutcome {
    if (given !== undefined) this.#options.takeGiven?.(given);
    return { kind: 'complete', status: this.#status, usage, tap: null, body: [body], outputTokens };
  }

  #unreadable({ body, usage }: UnreadableAnswer): AttemptFailure {
    const failure =
      body === null
        ? brokenAttempt(this.#status, 'started', 'unreadable')
        : failureOfAnswer(this.#options.provider, null, this.upstreamHeaders, body);
    return { ...failure, usage };
  }

  #finish(outcome: AttemptOutcome): void {
    if (this.#over) return;
    this.#over = true;
    this.#reading?.abandon();
    this.#watching.end();
    if (this.#drainUntil !== null) this.#options.drains.release();
    this.#resolve(outcome);
  }
}
